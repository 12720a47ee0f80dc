# SPDX-License-Identifier: MIT
PROGS += km-harvest
km-harvest_SRCS := harvest/main.c harvest/targets.c harvest/harvest.c \
	harvest/records.c harvest/terms.c harvest/gitrepo.c harvest/gitname.c \
	harvest/licence.c harvest/licence_expr.c harvest/licence_name.c \
	harvest/licence_readme.c harvest/fetch.c harvest/fetch_git.c harvest/notebook.c harvest/needs.c harvest/githistory.c \
	harvest/blobs.c harvest/callers.c harvest/functions.c
km-harvest_ARCHIVES := run py
km-harvest_PKGS := libgit2 libseccomp
UNIT_SRCS += $(filter-out harvest/main.c harvest/fetch%,$(km-harvest_SRCS))
UNIT_PKGS += libgit2
