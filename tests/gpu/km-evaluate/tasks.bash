# SPDX-License-Identifier: MIT
# Tasks of tests/gpu/km-evaluate/tasks as records: the reference is the file,
# its first comments say what goes in and out.
#   # input: NAME DTYPE SHAPE [normal | uniform LO HI | int LO HI | bool]
#   # output: DTYPE SHAPE [exact | set]
#   # more: JSON object of further fields
#   # small: sed commands for a machine without a GPU (SMALL=1)
set -euo pipefail
gpu_tests=$SRC/tests/gpu/km-evaluate

# header FILE KEY: what comments of the file's head say, a line each.
header() {
    sed -n "/^#/!q; s/^# $2: //p" "$1"
}

gpu_task() { # NAME
    local file=$gpu_tests/tasks/$1.py small=
    [ -z "${SMALL:-}" ] || small=$(header "$file" small)
    sed -e "$small" "$file" | jq -cRs --arg id "$1" '
        def field(key): [scan("(?m)^# " + key + ": ([^\n]*)") | .[0]];
        def shape: capture("(?<shape>\\[[^]]*\\])").shape | fromjson;
        def words: gsub("\\[[^]]*\\]"; "_") | split(" ");
        {kind: "task", id: $id, state: "ok", why: [], name: $id,
         entry_kind: "module", source: ., init: [], dtype: "fp32",
         verified: true,
         inputs: [field("input")[] | shape as $s | words
            | {name: .[0], kind: "tensor", shape: $s, dtype: .[1],
               dist: .[3]}
            + if .[4] then {lo: (.[4] | tonumber), hi: (.[5] | tonumber)}
              else {} end],
         outputs: [field("output")[] | shape as $s | words
            | {shape: $s, dtype: .[0], compare: (.[2] // "close")}]}
        + (field("more")[0] // "{}" | fromjson)'
}
