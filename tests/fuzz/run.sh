#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Replays the corpus of each fuzz target: tests/fuzz/run.sh FOLDER TARGET...
# where FOLDER holds the programs. A crash is one failure.
set -euo pipefail

bin=$1
shift
corpus=$(dirname "$0")/corpus
passed=0 failed=0
for target; do
    out=$("$bin/$target" "$corpus/$target") || {
        failed=$((failed + 1))
        echo "fuzz: $target failed"
    }
    read -r p _ f _ <<<"${out#fuzz: }"
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0}))
done
printf 'fuzz: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
