#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Throughput of the record stream: km-cat, which reads, checks, and writes
# again, beside Python's msgpack, which only reads, and beside `zstd -dc` for a
# compressed stream. Side by side in one run, medians of five.
set -euo pipefail

bin=${BUILD:?}/bin
cache=${KM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kernelmill}
python=$cache/python-reader
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Records like those of the sample, 4,000 times over: about 80 MB.
git init -q --bare "$tmp/sample.git"
git -C "$tmp/sample.git" fast-import --quiet <pipelines/sample/repo.fi
"$bin/km-harvest" "$tmp/sample.git" | "$bin/km-cat" --json |
    grep -v '"kind":"header"\|"kind":"end"' >"$tmp/one.json"
for _ in {1..4000}; do cat "$tmp/one.json"; done |
    "$bin/km-cat" --bare -o "$tmp/big.km"
"$bin/km-cat" -o "$tmp/big.km.zst" "$tmp/big.km"
mb=$(($(stat -c %s "$tmp/big.km") / 1000000))

median() { sort -n | sed -n 3p; }
# seconds COMMAND...: five runs, the median
seconds() {
    for _ in 1 2 3 4 5; do
        local start=$EPOCHREALTIME
        "$@" >/dev/null
        awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN {print b - a}'
    done | median
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.2f", a / b}'; }

ours=$(seconds "$bin/km-cat" "$tmp/big.km")
echo "stream: $mb MB, km-cat $(ratio "$mb" "$ours") MB/s"
if [ -x "$python" ]; then
    peer=$(seconds "$python" -c 'import msgpack, sys
for r in msgpack.Unpacker(open(sys.argv[1], "rb")): pass' "$tmp/big.km")
    echo "stream: time of km-cat (reads, checks, writes) / msgpack-python (reads): $(ratio "$ours" "$peer")"
else
    echo "stream: no $python: not compared with msgpack-python"
fi
packed=$(seconds "$bin/km-cat" --count "$tmp/big.km.zst")
peer=$(seconds zstd -dcq "$tmp/big.km.zst")
echo "stream: time of km-cat --count on zstd / zstd -dc: $(ratio "$packed" "$peer")"
