# SPDX-License-Identifier: MIT
# What this machine has. Every variable can be given on the command line.
# HAVE lists the names that module.mk files may use in NAME_PKGS.

PKG_CONFIG ?= pkg-config
KM_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kernelmill

# libkm.a needs these, and so does every program.
CORE_PKGS := msgpack libzstd jansson sqlite3 libxxhash libcrypto
ALL_PKGS := $(CORE_PKGS) check libgit2 libseccomp yaml-0.1

# msgpack's name differs: Debian 12 says msgpack, newer systems msgpack-c.
FOUND := $(shell for p in $(ALL_PKGS) msgpack-c; do \
	$(PKG_CONFIG) --exists $$p && echo $$p; done)
PC_msgpack := $(firstword $(filter msgpack msgpack-c,$(FOUND)))
HAVE := $(filter-out msgpack-c,$(FOUND)) $(if $(PC_msgpack),msgpack)
pc = $(or $(PC_$1),$1)
pcs = $(foreach p,$(sort $1),$(call pc,$p))
PKG_CFLAGS := $(if $(HAVE),$(shell $(PKG_CONFIG) --cflags $(call pcs,$(HAVE))))

# tree-sitter's C library and its Python grammar (parser.c, scanner.c), laid out
# by pipelines/setup.sh in a folder named by the digests of both packages. Not
# the system's library: Debian 12 has 0.20.7, which corrupts the heap on a node
# of more than 65,535 children.
TREE_SITTER_NAME := tree-sitter-66bae8dd-354bfa0a
TREE_SITTER ?= $(patsubst %/parser.c,%,$(firstword $(wildcard \
	.deps/$(TREE_SITTER_NAME)/parser.c \
	$(KM_CACHE)/$(TREE_SITTER_NAME)/parser.c)))
ifneq ($(TREE_SITTER),)
HAVE += tree-sitter
PKG_CFLAGS += -isystem $(TREE_SITTER)/include
endif
