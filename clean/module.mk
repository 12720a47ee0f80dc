# SPDX-License-Identifier: MIT
CLEAN_SRCS := clean/atimport.c clean/benchmark.c clean/calls.c clean/closure.c clean/cluster.c clean/config.c clean/config_scalar.c clean/dup.c \
	clean/edit.c clean/finger.c clean/found.c clean/held.c clean/inputs.c clean/lean.c clean/lift.c clean/minhash.c clean/module.c \
	clean/names.c clean/operators.c clean/order.c clean/policy.c \
	clean/prepare.c clean/recover.c clean/reference.c clean/registrar.c \
	clean/resolve.c clean/safe.c clean/scan.c clean/secret.c clean/stand.c \
	clean/shapes.c clean/statics.c clean/statics_names.c clean/tokens.c clean/work.c clean/wrap.c clean/write.c \
	clean/yaml.c
EMBED += clean/kernelbench.fingerprints
PROGS += km-clean
km-clean_SRCS := clean/main.c clean/clean.c clean/fingerprint.c $(CLEAN_SRCS)
km-clean_ARCHIVES := py
km-clean_PKGS := yaml-0.1
UNIT_SRCS += $(CLEAN_SRCS)
UNIT_PKGS += yaml-0.1
