# SPDX-License-Identifier: MIT
# Targets that test and measure; included by the Makefile.

SUITES := $(patsubst tests/unit/test_%.c,%,$(sort $(wildcard tests/unit/test_*.c)))
SUITES_H := $(BUILD)/gen/suites.def
UNIT_BIN := $(BUILD)/test/unit
unit-tests_ARCHIVES := run py
unit-tests_PKGS := check $(UNIT_PKGS)

$(shell for s in $(SUITES); do echo "SUITE($$s)"; done > $(SUITES_H).new; \
	cmp -s $(SUITES_H).new $(SUITES_H) && rm $(SUITES_H).new || \
	mv $(SUITES_H).new $(SUITES_H))
$(call objs,obj,tests/unit/main.c): $(SUITES_H)
$(eval $(call link_rule,$(UNIT_BIN),$(call objs,obj,tests/unit/main.c \
	$(SUITES:%=tests/unit/test_%.c) $(sort $(UNIT_SRCS))),run py,$(call \
	needs,unit-tests),obj))
