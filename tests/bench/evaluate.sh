#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The evaluator against itself: references under another name, so that the true
# ratio is 1, each judged by five fresh runs; the spread of the ratios, the
# interval that the evaluator claims, and verdicts a minute.
set -euo pipefail

export SRC=$PWD
cache=${KM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kernelmill}
PATH=${BUILD:?}/bin:$PATH
[ -n "${KM_PYTHON:-}" ] || KM_PYTHON=$cache/python
export KM_PYTHON
if [ ! -x "$KM_PYTHON" ]; then
    echo "evaluate: skipped, no Python with torch"
    exit 0
fi
# shellcheck disable=SC1091
. tests/cli/km-evaluate/streams.bash
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

big='[{"name": "x", "kind": "tensor", "shape": [1024, 1024],
       "dtype": "float32", "dist": "normal"}]'
{
    relu_task
    linear_task
    task softmax 'import torch
import torch.nn as nn
class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, 1)
' "$big" '[{"shape": [1024, 1024], "dtype": "float32", "compare": "close"}]'
    task conv 'import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(8, 16, 3, padding=1)
    def forward(self, x):
        return torch.relu(self.c(x))
' '[{"name": "x", "kind": "tensor", "shape": [2, 8, 32, 32],
     "dtype": "float32", "dist": "normal"}]' \
        '[{"shape": [2, 16, 32, 32], "dtype": "float32", "compare": "close"}]'
} >"$tmp/tasks"
jq -c '{kind: "revision", id: "", state: "ok", why: [], task: .id,
    run: "bench", program: .id, language: "torch",
    code: (.source | gsub("class Model[(]"; "class ModelNew("))}' \
    "$tmp/tasks" >"$tmp/revisions"

start=$EPOCHREALTIME
for _ in 1 2 3 4 5; do
    km-evaluate --bare --json --no-store --tasks "$tmp/tasks" \
        <"$tmp/revisions"
done | jq -c 'select(.kind == "verdict")' >"$tmp/verdicts"
end=$EPOCHREALTIME

jq -rs --arg from "$start" --arg to "$end" '
    def r(n): . * pow(10; n) | round / pow(10; n);
    (.[] | select(.time == null)
     | "evaluate: \(.task): no time: \(.outcome) \(.note) \(.detail)"),
    (map(select(.time)) | group_by(.task)[] | map(.time) as $t
     | ($t | map(.ratio)) as $v
     | "evaluate: \(.[0].task): ratio \($v | add / length | r(4)), " +
       "five runs \($v | min | r(4)) to \($v | max | r(4)), " +
       "claimed half interval \($t | map((.ratio_high / .ratio_low | log)
            / 2 * 100) | add / length | r(2)) %, " +
       "\($t[0].reference_ns / 1000 | r(1)) us, " +
       "pairs \($t | map(.pairs) | add / length | round), " +
       "stop \($t | map(.stop) | unique | join("/"))"),
    "evaluate: \(length / (($to | tonumber) - ($from | tonumber)) * 60
        | r(1)) verdicts a minute, start of five zygotes included"
' "$tmp/verdicts"
