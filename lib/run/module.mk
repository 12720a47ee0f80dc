# SPDX-License-Identifier: MIT
# Runners and their sandbox. km-jail.so is what the Python zygote loads: the jail,
# and the allocator of those on a GPU.
JAIL_SRCS := lib/run/jail.c lib/run/jail_fs.c lib/run/jail_init.c \
	lib/run/jail_seccomp.c
RUN_SRCS += $(JAIL_SRCS) lib/run/runner_arena.c lib/run/frames.c lib/run/runner.c lib/run/zygote.c \
	lib/run/build.c
SHLIBS += km-jail
km-jail_SRCS := $(JAIL_SRCS) lib/run/runner_arena.c
km-jail_PKGS := libseccomp
EMBED += lib/run/runner.py lib/run/runner_cuda.py lib/run/builder.py \
	$(BUILD)/lib/km-jail.so
