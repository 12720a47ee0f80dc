# SPDX-License-Identifier: MIT
# Hand-written revisions and verdicts, appended to the file `stream`.
# shellcheck shell=bash

task=00112233445566778899aabbccddeeff
run=r1
: >stream

id_of() { printf '%s' "$run/$1" | md5sum | cut -c 1-32; }

# revision PROGRAM PARENT CODE ITERATION [JQ]
revision() {
    jq -nc --arg id "$(id_of "$1")" --arg program "$1" --arg parent "$2" \
        --arg code "$3" --argjson iteration "$4" --arg task $task \
        --arg run "$run" '
        {kind: "revision", id: $id, state: "ok", why: [], task: $task,
         run: $run, program: $program,
         parent: (if $parent == "" then null else $parent end),
         iteration: $iteration, language: "torch", code: $code} | '"${5:-.}" \
        >>stream
}

# verdict PROGRAM RATIO [JQ]: RATIO '-' = it was not timed
verdict() {
    jq -nc --arg revision "$(id_of "$1")" --arg ratio "$2" --arg task $task '
        {kind: "verdict", id: ("f" + $revision[1:]), state: "ok", why: [],
         task: $task, revision: $revision, against: "reference",
         protocol: "1", device_class: "cpu", outcome: "ok",
         pass: {kernelbench: true, kbv: true, strict: true}, honest: true,
         contract: {ok: true, grade: "process", codes: []},
         time: ($ratio | if . == "-" then null else tonumber |
             {method: "ring", reference_ns: 1000, candidate_ns: (1000 / .),
              ratio: ., ratio_low: (. * 0.995), ratio_high: (. * 1.005)} end),
         memory: {candidate: {peak: 4096}, ratio: 1.5}} | '"${3:-.}" >>stream
}

# both PROGRAM PARENT CODE ITERATION RATIO [JQ of the verdict] [JQ of the
# revision]
both() {
    revision "$1" "$2" "$3" "$4" "${7:-.}"
    verdict "$1" "$5" "${6:-.}"
}
