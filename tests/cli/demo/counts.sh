# SPDX-License-Identifier: MIT
# timeout: 1200
# The whole chain on the sample gives the known counts: what each stage finds
# and drops, every cheat caught, no honest revision flagged.
python=${KM_PYTHON:-}
if [ -z "$python" ] || ! "$python" -c 'import torch' 2>err; then
    echo 'no Python with torch'
    exit 77
fi
set -euo pipefail
count() { # FILE: kind, state, reason, number
    km-cat --json "$1" | jq -r 'select(.kind != "header" and .kind != "end")
        | [.kind, .state, .why[]] | join(" ")' | sort | uniq -c |
        sed -E 's/^ +([0-9]+) (.*)/  \2: \1/'
}
git init -q --bare -b main small-layers.git
git -C small-layers.git fast-import --quiet <"$SRC/pipelines/sample/repo.fi"
km-harvest -q -o harvest.km small-layers.git
echo harvest
count harvest.km
km-clean -q -i harvest.km -o clean.km
echo clean
count clean.km
km-testgen -q --target cpu -i clean.km -o tasks.km
echo testgen
count tasks.km
km-trajectories import -q "$SRC"/pipelines/sample/runs/* --tasks tasks.km \
    -o revisions.km
echo import
count revisions.km
km-evaluate -q --tasks tasks.km --budget 1 -i revisions.km -o verdicts.km
echo evaluate
"$SRC/pipelines/sample/judge.sh" verdicts.km
# A second run takes every verdict from the store.
km-evaluate -q --tasks tasks.km --budget 1 -i revisions.km -o again.km
cmp verdicts.km again.km && echo "same verdicts again"
km-trajectories select -q --tasks tasks.km -i verdicts.km -o steps.km
km-export -q --tasks tasks.km -i steps.km --out dataset
km-export -q --verify dataset >/dev/null && echo "data set verified"
# Which steps are kept depends on what was measured, but some always are.
jq -r '.records | to_entries[] | "  \(.key): \(.value > 4)"' dataset/manifest.json
