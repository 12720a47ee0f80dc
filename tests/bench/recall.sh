#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What decontamination finds of variants of a benchmark's own problems:
# recall.sh CHECKOUT/KernelBench [CLEANED...]. A row for each variant of
# tests/plant.py with rejected + only marked / all, by level. CLEANED: outputs
# of km-clean on real repositories, of which the share that it refused is told.
set -euo pipefail

root=${1:-}
if [ -z "$root" ]; then
    echo "recall: skipped, no benchmark (recall.sh CHECKOUT/KernelBench)"
    exit 0
fi
shift
bin=${BUILD:?}/bin
echo "| variant | level 1 | level 2 | level 3 | level 4 |"
echo "| --- | --- | --- | --- | --- |"
for variant in copy formatted commented renamed reordered constants all; do
    python3 tests/plant.py "$root" "$variant" |
        "$bin/km-clean" -q --bare --no-dedup --json |
        jq -sr --arg v "$variant" '
            [.[] | select(.kind == "module")]
            | [$v] + [range(1; 5) as $n | [.[] | select(.repo
                | startswith("level\($n)/"))] | [
                (map(select(.why | index("clean.contaminated"))) | length),
                (map(select((.why | index("clean.contaminated") | not) and
                    (.why | index("clean.same_operators")))) | length), length]
                | "\(.[0]) + \(.[1]) / \(.[2])"]
            | "| \(join(" | ")) |"'
done
for cleaned; do
    "$bin/km-cat" --json "$cleaned" | jq -sr '
        [.[] | select(.kind == "module")] | length as $n
        | map(select(.why | index("clean.contaminated"))) | length
        | "real modules: \(.) refused of \($n)"'
done
