# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Module records written by hand, appended to the file `stream`.
[ -n "${KM_PYTHON:-}" ] || [ -n "${UNVERIFIED:-}" ] || {
    echo "no interpreter with torch"
    exit 77
}
: >stream

# module ENTRY [JQ] < SOURCE
module() {
    jq -nc --arg entry "$1" --rawfile source /dev/stdin '
        {kind: "module", id: ($entry | @base64 | ascii_downcase | explode |
         map(. % 16 | if . < 10 then . + 48 else . + 87 end) | implode |
         . * 8 | .[:32]), state: "ok", why: [], repo: "r",
         commit: ("c" * 40), path: "m.py", blob: ("b" * 40), name: $entry,
         line: 1, end_line: 9, entry: $entry, source: $source,
         licence: {spdx: "MIT", evidence: "LICENSE"}} | '"${2:-.}" >>stream
}

# testgen OPTION...: reads `stream`, writes JSON lines to `out`
testgen() {
    local weak=''
    km-testgen --bare --json -j 1 --target "${TARGET:-cpu}" "$@" <stream >out \
        2>err || {
        grep -q sandbox err && weak=--allow-weak-sandbox
        km-testgen --bare --json -j 1 --target "${TARGET:-cpu}" $weak "$@" \
            <stream >out
    }
}

# One line a record. An input: name, shape or value, kind of numbers.
show() {
    jq -r 'def input: .name + "=" + (if .kind == "tensor" then
             (.shape | tostring) + {float32: "f", int64: "i", bool: "b", bfloat16: "bf",
                float16: "h"}[.dtype]
             + (if .dist == "int" then "\(.lo)..\(.hi)"
                elif .dist == "uniform" then "u" else "" end)
           elif .items then "[" + ([.items[] | input] | join(" ")) + "]"
           else (.value | tostring) end);
        select(.kind == "task" or .kind == "module") |
        [.name // .entry, .kind, .state, (.why | join(","))] +
        (if .kind == "task" then
             [(.init | tostring), ([.inputs[] | input] | join(" ")),
              ([.outputs[] | (.shape | tostring) + .compare[:1]] | join(" ")),
              .family, .difficulty, (if .stochastic then "stochastic" else
              "" end), (.mutates // [] | tostring)]
         else [.note // "" | gsub("[0-9]+ attempts"; "N attempts")] end) |
        join(" | ")' "${1:-out}"
}
