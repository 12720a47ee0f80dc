# SPDX-License-Identifier: MIT
# Kernelmill. `make help` lists the targets, `make -s print-HAVE` shows a
# variable. Folders declare what they hold in module.mk (CONTRIBUTING.md).

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

SAN ?=
FUZZ ?=
WERROR ?=
VARIANT ?= $(if $(filter 1,$(FUZZ)),fuzz,$(if $(filter 1,$(SAN)),san,release))
BUILD ?= build/$(VARIANT)
PREFIX ?= /usr/local
DESTDIR ?=
ifeq ($(origin CC),default)
CC := $(if $(filter 1,$(FUZZ)),clang,gcc)
endif
AR ?= ar
V ?=
Q := $(if $(V),,@)
say = @$(if $(V),:,echo '  $1  $@')
CFLAGS ?= -O2 -g

include config.mk

PROGS :=
INTERNAL_PROGS :=
SHLIBS :=
EMBED :=
LIB_SRCS :=
PY_SRCS :=
RUN_SRCS :=
UNIT_SRCS :=
UNIT_PKGS :=
include $(sort $(wildcard */module.mk lib/*/module.mk))

# ---- flags: ours come first, the user's CPPFLAGS, CFLAGS, LDFLAGS last ----

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wvla -Wwrite-strings -Wformat=2 -Wundef \
	-Wpointer-arith -Wimplicit-fallthrough $(if $(filter 1,$(WERROR)),-Werror) \
	$(if $(findstring clang,$(CC)),-Wno-format-nonliteral \
	-Wno-missing-field-initializers)
KM_CPPFLAGS := -D_GNU_SOURCE -Ilib -I. -I$(BUILD)/gen $(PKG_CFLAGS)
KM_CFLAGS := -std=gnu11 $(WARN) -fstack-protector-strong -fPIE -pthread
KM_LDFLAGS := -pie -pthread -Wl,-z,relro,-z,now
ifneq ($(filter -O1 -O2 -O3 -Os,$(CFLAGS)),)
HARDEN := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif
SANITIZE :=
ifeq ($(SAN),1)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
endif
ifeq ($(FUZZ),1)
SANITIZE := -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
# Fortify hides calls from ASan, so only what is not sanitized has it.
FLAGS_obj := $(KM_CFLAGS) $(if $(SANITIZE),,$(HARDEN)) $(CFLAGS) \
	$(if $(SANITIZE),$(SANITIZE) -O1 -g)
FLAGS_plain := $(KM_CFLAGS) $(HARDEN) $(CFLAGS)
LINK_obj := $(KM_LDFLAGS) $(SANITIZE) $(LDFLAGS)
LINK_plain := $(KM_LDFLAGS) $(LDFLAGS)

# Objects depend on this file, rewritten only when its text changes.
STAMP := $(BUILD)/flags
STAMP_TEXT := $(CC) $(KM_CPPFLAGS) $(CPPFLAGS) $(FLAGS_obj) $(LINK_obj)
$(shell mkdir -p $(BUILD)/gen; echo '$(STAMP_TEXT)' | cmp -s - $(STAMP) || \
	echo '$(STAMP_TEXT)' > $(STAMP))

# ---- objects; plain/ holds what is never sanitized (NAME_NOSAN := 1) ----

objs = $(patsubst %.c,$(BUILD)/$1/%.o,$2)
TREE_SITTER_OBJS := $(addprefix $(BUILD)/tree-sitter/,core/lib.o parser.o \
	scanner.o)
define compile_rule
$(BUILD)/$1/%.o: %.c $(STAMP)
	@mkdir -p $$(@D)
	$$(call say,CC)
	$(Q)$(CC) $(KM_CPPFLAGS) $$(DEFS) $(CPPFLAGS) $(FLAGS_$1) -MMD -MP -c -o $$@ $$<
$(BUILD)/$1/libkm.a: $(call objs,$1,$(LIB_SRCS))
$(BUILD)/$1/libpy.a: $(call objs,$1,$(PY_SRCS)) \
	$(if $(TREE_SITTER),$(TREE_SITTER_OBJS))
$(BUILD)/$1/librun.a: $(call objs,$1,$(RUN_SRCS))
endef
$(foreach d,obj plain,$(eval $(call compile_rule,$d)))

$(BUILD)/%.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

# Code of others: their warnings are not ours, and not sanitized.
$(TREE_SITTER_OBJS): $(BUILD)/tree-sitter/%.o: $(TREE_SITTER)/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -std=gnu11 -w -O3 -fPIC -I$(TREE_SITTER) -I$(TREE_SITTER)/include \
		-I$(TREE_SITTER)/core -c -o $@ $<

$(BUILD)/pic/%.o: %.c $(STAMP)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(KM_CPPFLAGS) $(CPPFLAGS) $(filter-out -fPIE,$(FLAGS_plain)) -fPIC \
		-MMD -MP -c -o $@ $<

# Only these objects know where the installed programs will be.
WITH_PREFIX := $(foreach d,obj plain,$(call objs,$d,$(shell \
	grep -ls KM_LIBEXECDIR *.c */*.c */*/*.c)))
LIBEXEC := $(PREFIX)/libexec/kernelmill
$(WITH_PREFIX): DEFS := -DKM_LIBEXECDIR='"$(LIBEXEC)"'
$(WITH_PREFIX): $(BUILD)/prefix
$(shell echo '$(PREFIX)' | cmp -s - $(BUILD)/prefix || \
	echo '$(PREFIX)' > $(BUILD)/prefix)

# ---- what can be built here? ----

ARCHIVE_NEEDS_py := tree-sitter
ARCHIVE_NEEDS_run := libseccomp
needs = $(sort $(CORE_PKGS) $($1_PKGS) \
	$(foreach a,$($1_ARCHIVES),$(ARCHIVE_NEEDS_$a)))
lacks = $(filter-out $(HAVE),$(call needs,$1))
can = $(foreach p,$1,$(if $(call lacks,$p),,$p))
# The shell expands it, when a program is linked.
pkg_libs = $(if $1,$$($(PKG_CONFIG) --libs $(call pcs,$1)))

# ---- shared objects, never sanitized ----

define shlib_rule
$(BUILD)/lib/$1.so: $(call objs,pic,$($1_SRCS))
	@mkdir -p $$(@D)
	$$(call say,LD)
	$(Q)$(CC) -shared -pthread -Wl,-z,relro,-z,now $(LDFLAGS) -o $$@ \
		$$(filter %.o,$$^) $(subst $$,$$$$,$(call pkg_libs,$($1_PKGS)))
endef
$(foreach s,$(call can,$(SHLIBS)),$(eval $(call shlib_rule,$s)))

# ---- embedded files: km_embed_NAME, km_embed_NAME_size (lib/embed.h) ----

NOT_BUILT := $(filter-out $(call can,$(SHLIBS)),$(SHLIBS))
EMBED := $(filter-out $(NOT_BUILT:%=$(BUILD)/lib/%.so),$(sort $(EMBED)))
embed_name = $(subst +,_,$(subst -,_,$(subst .,_,$(notdir $1))))
EMBED_OBJS := $(foreach f,$(EMBED),$(BUILD)/embed/$(call embed_name,$f).o)
define embed_rule
$(BUILD)/embed/$(call embed_name,$1).o: $1 lib/embed.S
	@mkdir -p $$(@D)
	$$(call say,EMBED)
	$(Q)$(CC) -DNAME=km_embed_$(call embed_name,$1) -DFILE='"$1"' -c -o $$@ \
		lib/embed.S
endef
$(foreach f,$(EMBED),$(eval $(call embed_rule,$f)))
$(BUILD)/libembed.a: $(EMBED_OBJS)

# ---- programs ----

libs = $(addprefix $(BUILD)/$1/lib,$(addsuffix .a,$(filter run,$2) \
	$(filter py,$2) km)) $(BUILD)/libembed.a

# $1 output, $2 objects, $3 archives, $4 packages, $5 obj or plain, $6 more
define link_rule
$1: $2 $(call libs,$5,$3)
	@mkdir -p $$(@D)
	$$(call say,LD)
	$(Q)$(CC) $(LINK_$5) $6 -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) \
		$(subst $$,$$$$,$(call pkg_libs,$(filter-out tree-sitter,$4))) -ldl -lm
endef
prog_kind = $(if $($1_NOSAN),plain,obj)
define prog_rules
$(call link_rule,$(BUILD)/$2/$1,$(call objs,$(call prog_kind,$1),$($1_SRCS)),$($1_ARCHIVES),$(call needs,$1),$(call prog_kind,$1))
.PHONY: $1
$1: $(BUILD)/$2/$1
endef
BUILT := $(call can,$(PROGS))
BUILT_INTERNAL := $(call can,$(INTERNAL_PROGS))
$(foreach p,$(BUILT),$(eval $(call prog_rules,$p,bin)))
$(foreach p,$(BUILT_INTERNAL),$(eval $(call prog_rules,$p,libexec)))
BINS := $(addprefix $(BUILD)/bin/,$(BUILT)) \
	$(addprefix $(BUILD)/libexec/,$(BUILT_INTERNAL))
OFF := $(filter-out $(BUILT) $(BUILT_INTERNAL),$(PROGS) $(INTERNAL_PROGS))

.PHONY: all off
all: off $(BINS)
off:
	@:$(foreach p,$(OFF),; echo "$p is not built, this machine lacks:" \
	$(call lacks,$p) "(see pipelines/setup.sh)")

include tests/targets.mk

.PHONY: install uninstall clean help
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBEXEC) \
		$(addprefix $(DESTDIR)$(PREFIX)/share/man/man,1 5 7)
	$(if $(BUILT),install -m 755 $(addprefix $(BUILD)/bin/,$(BUILT)) \
		$(DESTDIR)$(PREFIX)/bin)
	$(if $(BUILT_INTERNAL),install -m 755 $(addprefix \
		$(BUILD)/libexec/,$(BUILT_INTERNAL)) $(DESTDIR)$(LIBEXEC))
	$(foreach s,1 5 7,$(if $(wildcard man/*.$s),install -m 644 \
		$(wildcard man/*.$s) $(DESTDIR)$(PREFIX)/share/man/man$s;))

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,$(PROGS)) \
		$(foreach s,1 5 7,$(patsubst man/%,\
		$(DESTDIR)$(PREFIX)/share/man/man$s/%,$(wildcard man/*.$s)))
	rm -rf $(DESTDIR)$(LIBEXEC)

clean:
	rm -rf $(BUILD)

help:
	@sed -n 's/^#: //p' $(MAKEFILE_LIST)
#: make               all programs into $(BUILD)/bin and $(BUILD)/libexec
#: make km-NAME       one program
#: make install       DESTDIR= PREFIX=/usr/local; also uninstall
#: make clean         this variant's build folder
#: Variables: SAN=1 (sanitizers), WERROR=1, BUILD=, CC=, CFLAGS=, LDFLAGS=,
#:   KM_CACHE=, V=1 (whole command lines)

print-%:
	@echo '$* = $($*)'

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
