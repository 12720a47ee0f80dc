# SPDX-License-Identifier: MIT
PROGS += km-testgen
TESTGEN_SRCS := testgen/facts.c testgen/flow.c testgen/function.c testgen/fields.c \
	testgen/objects.c testgen/arguments.c testgen/propose.c testgen/state.c \
	testgen/moves.c testgen/exprs.c testgen/refine.c testgen/gate.c \
	testgen/calls.c testgen/told.c testgen/ranges.c testgen/scale.c testgen/foreign.c \
	testgen/grow.c testgen/ops.c testgen/graphs.c testgen/reply.c \
	testgen/infer/infer.c testgen/infer/interp.c \
	testgen/infer/interp_expr.c testgen/infer/call.c \
	testgen/infer/layers.c testgen/infer/tensor.c testgen/infer/views.c \
	testgen/infer/einops.c testgen/infer/value.c testgen/infer/dim.c
km-testgen_SRCS := $(TESTGEN_SRCS) testgen/main.c testgen/testgen.c \
	testgen/search.c testgen/attempt.c testgen/full.c testgen/probe.c testgen/task.c testgen/host.c \
	testgen/import.c testgen/examine.c testgen/variant.c \
	testgen/parents.c testgen/lessons.c
km-testgen_ARCHIVES := py run
# The tables are part of the memo's key.
EMBED += lib/run/probe.py lib/run/gate.py lib/run/watch.py lib/run/counts.py \
	lib/run/examine.py testgen/names.def testgen/sizes.def testgen/refine.def \
	testgen/tensor.def testgen/ops.def
UNIT_SRCS += $(TESTGEN_SRCS)
