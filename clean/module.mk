# SPDX-License-Identifier: MIT
CLEAN_SRCS := clean/closure.c clean/dup.c clean/edit.c clean/module.c \
	clean/names.c clean/order.c clean/policy.c clean/prepare.c clean/recover.c \
	clean/resolve.c clean/scan.c clean/secret.c clean/work.c clean/write.c
PROGS += km-clean
km-clean_SRCS := clean/clean.c $(CLEAN_SRCS)
km-clean_ARCHIVES := py
UNIT_SRCS += $(CLEAN_SRCS)
