# SPDX-License-Identifier: MIT
# steps.km and tasks.km of hand-written verdicts.
# shellcheck shell=bash
. "$SRC/tests/cli/km-trajectories/verdicts.bash"

asked='.prompt = [{role: "system", content: "S"}, {role: "user", content: "faster!"}]'
both seed '' 'class ModelNew: seed' 0 1.0
both a seed 'class ModelNew: a' 1 2.0 . "$asked"' | .reply_kind = "full" |
    .reply = "```python\nclass ModelNew: a\n```" | .replay = "exact"'
both b seed 'class ModelNew: b' 2 - '.outcome = "wrong" | .pass.strict = false' \
    "$asked"' | .reply = "```python\nclass ModelNew: b\n```" | .replay = "exact"'
both c a 'class ModelNew: c' 3 4.0 . "$asked"' | .reply = "words" |
    .replay = "differs"'
both d a 'class ModelNew: d' 4 - '.outcome = "infrastructure" |
    .state = "failed" | .why = ["evaluate.infrastructure"]'
both e a 'class ModelNew: e' 5 3.0 '.contract.ok = false'
both f a 'class ModelNew: f' 6 1.0
run=r2
both seed '' 'int seed;' 0 1.0 '.contract.ok = false' '.language = "c"'
both g seed 'int g;' 1 0.9 . '.language = "c"'
run=r3 task=99999999999999999999999999999999
both x '' 'no task' 0 1.0
task=00112233445566778899aabbccddeeff
run=r4
both y '' 'metal' 0 1.0 . '.language = "maca"'

{
    jq -nc --arg id $task '{kind: "task", id: $id, state: "ok", why: [],
        name: "ReLU", entry_kind: "module", source: "class Model: pass\n",
        inputs: [], init: [], outputs: [], dtype: "fp32", verified: true,
        family: "activation", difficulty: "one",
        origin: {repo: "r", licence: {spdx: "MIT", evidence: "LICENSE"}}}'
} | km-cat --bare -o tasks.km
km-trajectories select --bare -i stream -o steps.km
