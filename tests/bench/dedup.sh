#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Seconds, memory and size of the index for the duplicates among
# MODULES=100000 synthetic modules, and for the same once more with the index
# that the first run made.
set -euo pipefail

bench=${BUILD:?}/bench/cluster
modules=${MODULES:-100000}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export TMPDIR=$tmp

echo "dedup: $("$bench" "$modules" "$tmp/index")"
echo "dedup: again: $("$bench" "$modules" "$tmp/index")"
