# SPDX-License-Identifier: MIT
# Targets that test and measure; included by the Makefile.
#:
#: make check         all tests (SAN=1: under ASan and UBSan); the parts are
#:                    check-unit -cli -fuzz -headers -helpman, lint
#: make check-unit SUITES='io val'    only these
#: make check-cli CASES='km-cat ...'   only these; UPDATE=1, WRAP=CMD
#: make check-gpu     what needs a GPU; skipped where there is none
#: make fuzz-NAME     fuzz tests/fuzz/fuzz_NAME.c for FUZZ_SECONDS=20 (clang,
#:                    libclang-rt-14-dev)
#: make bench         throughput figures
#: make bench-harvest REPOS='PATH...'  harvest, clean and import: a table
#: make bench-testgen REPOS='PATH...'  tasks from their modules: a table
#: make bench-gpu     how much verdicts on a GPU differ from run to run: a table
#: make lint format format-check

RUN_ENV := $(if $(SANITIZE),KM_KILLS=4) BUILD='$(abspath $(BUILD))' \
	ASAN_OPTIONS=detect_leaks=1:verify_asan_link_order=0 \
	UBSAN_OPTIONS=print_stacktrace=1 \
	$(addprefix KM_PYTHON=,$(or $(KM_PYTHON),$(wildcard $(KM_CACHE)/python)))
CASES ?=
FUZZ_SECONDS ?= 20

# ---- unit tests ----

SUITES := $(patsubst tests/unit/test_%.c,%,\
	$(sort $(wildcard tests/unit/test_*.c)))
SUITES_H := $(BUILD)/gen/suites.def
UNIT_BIN := $(BUILD)/test/unit
unit_ARCHIVES := run py
unit_PKGS := check $(UNIT_PKGS)
UNIT_OBJS := $(call objs,obj,$(wildcard $(sort $(UNIT_SRCS))))

$(shell for s in $(SUITES); do echo "SUITE($$s)"; done > $(SUITES_H).new; \
	cmp -s $(SUITES_H).new $(SUITES_H) && rm $(SUITES_H).new || \
	mv $(SUITES_H).new $(SUITES_H))
$(call objs,obj,tests/unit/main.c): $(SUITES_H)
$(eval $(call link_rule,$(UNIT_BIN),$(call objs,obj,tests/unit/main.c \
	$(SUITES:%=tests/unit/test_%.c)) $(UNIT_OBJS),run py,$(call \
	needs,unit),obj))

# ---- fuzz targets: replayed by driver.c, or run by libFuzzer (FUZZ=1) ----

FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,\
	$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_BINS := $(FUZZERS:%=$(BUILD)/fuzz/%)
FUZZ_MAIN := $(if $(filter 1,$(FUZZ)),,$(call objs,obj,tests/fuzz/driver.c))
$(foreach f,$(FUZZERS),$(eval $(call link_rule,$(BUILD)/fuzz/$f,$(call \
	objs,obj,tests/fuzz/fuzz_$f.c) $(FUZZ_MAIN) $(UNIT_OBJS),run py,$(call \
	needs,unit),obj,$(if $(filter 1,$(FUZZ)),-fsanitize=fuzzer))))

FUZZ_BUILD := $(if $(filter build/%,$(BUILD)),build/fuzz,$(BUILD)-fuzz)
fuzz-%:
	$(MAKE) FUZZ=1 BUILD=$(FUZZ_BUILD) $(FUZZ_BUILD)/fuzz/$*
	@mkdir -p $(FUZZ_BUILD)/corpus/$*
	$(FUZZ_BUILD)/fuzz/$* -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
		-artifact_prefix=$(FUZZ_BUILD)/ $(FUZZ_BUILD)/corpus/$* \
		tests/fuzz/corpus/$*

# ---- programs of the benchmarks ----

BENCHES := $(patsubst tests/bench/%.c,%,$(sort $(wildcard tests/bench/*.c)))
BENCH_BINS := $(BENCHES:%=$(BUILD)/bench/%)
$(foreach f,$(BENCHES),$(eval $(call link_rule,$(BUILD)/bench/$f,$(call \
	objs,obj,tests/bench/$f.c) $(UNIT_OBJS),run py,$(call needs,unit),obj)))

# ---- parts of the check; each closes with 'NAME: N passed, N failed' ----

HEADERS := $(sort $(wildcard *.h */*.h */*/*.h))
PARTS := unit cli fuzz $(if $(SANITIZE),,headers helpman lint)
TEST_BINS := $(BUILD)/lib/failio.so $(UNIT_BIN) $(FUZZ_BINS)

.PHONY: check check-unit check-cli check-fuzz check-headers check-helpman \
	check-gpu bench bench-harvest bench-testgen bench-gpu lint format format-check
check: all $(TEST_BINS)
	@rm -rf $(BUILD)/results
	@for part in $(PARTS:%=check-%); do tests/part.sh $(BUILD)/results \
		$$part $(MAKE) --no-print-directory $$part; done
	@tests/part.sh $(BUILD)/results --total

check-unit: $(UNIT_BIN)
	@$(RUN_ENV) $<

check-cli: all $(BUILD)/lib/failio.so
	@$(RUN_ENV) tests/cli/run.sh $(CASES)

check-gpu: all $(UNIT_BIN)
	@$(RUN_ENV) SUITE=gpu tests/cli/run.sh $(CASES)

check-fuzz: $(FUZZ_BINS)
	@$(RUN_ENV) tests/fuzz/run.sh $(BUILD)/fuzz $(FUZZERS)

# Every header compiles alone, after base.h.
check-headers:
	@p=0 f=0; for h in $(HEADERS); do \
	if printf '#include "%s"\n' base.h $$h | $(CC) $(KM_CPPFLAGS) $(CPPFLAGS) \
	$(KM_CFLAGS) -Werror -fsyntax-only -x c -; then p=$$((p + 1)); \
	else f=$$((f + 1)); fi; done; \
	echo "headers: $$p passed, $$f failed"; [ $$f = 0 ]

check-helpman: all
	@$(RUN_ENV) tests/helpman.sh

check-lint lint:
	@tests/lint.sh

bench-harvest: all $(BUILD)/bench/pyparse
	@$(RUN_ENV) bash tests/bench/harvest.sh $(REPOS)

bench-testgen: all
	@$(RUN_ENV) bash tests/bench/testgen.sh $(REPOS)

bench-gpu: all
	@$(RUN_ENV) python3 tests/bench/repeat.py $(OPTIONS)

bench: all $(BENCH_BINS)
	@for script in $(sort $(wildcard tests/bench/*.sh)); do \
	$(RUN_ENV) bash $$script || exit 1; done

C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h' \
	':!tests/cli' ':!pipelines/sample')
format:
	clang-format -i $(C_FILES)
format-check:
	clang-format --dry-run -Werror $(C_FILES)
