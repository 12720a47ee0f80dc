#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Counts tests over the parts of a run.
#   tests/part.sh DIR NAME COMMAND...   run one part, note its counts in DIR
#   tests/part.sh DIR --total           one closing line over all of DIR
# A part's counts are its last line '[NAME: ]N passed, N failed[, N skipped]';
# a part that failed without saying so counts as one failure. The first form
# always exits 0: --total tells.
set -euo pipefail

dir=$1
counts='[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$'
mkdir -p "$dir"

if [ "$2" = --total ]; then
    passed=0 failed=0 skipped=0
    for file in "$dir"/*.count; do
        read -r p f s <"$file"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    done
    printf '%d passed, %d failed' $passed $failed
    [ $skipped = 0 ] || printf ', %d skipped' $skipped
    echo
    [ $failed = 0 ] && [ $passed -gt 0 ]
    exit
fi

name=$2
shift 2
status=0
"$@" 2>&1 | tee "$dir/$name.log" || status=$?
line=$(grep -E "^([A-Za-z-]+: )?$counts" "$dir/$name.log" | tail -n 1) || :
read -r p f s <<<"$(sed -E 's/^[A-Za-z-]+: //; s/[a-z,]+//g' <<<"$line")"
p=${p:-0} f=${f:-0} s=${s:-0}
if [ $status != 0 ] && [ "$f" = 0 ]; then
    echo "$name: exit status $status" >&2
    f=1
elif [ $status = 0 ] && [ -z "$line" ]; then
    p=1 # a part that counts nothing is one test
fi
echo "$p $f $s" >"$dir/$name.count"
