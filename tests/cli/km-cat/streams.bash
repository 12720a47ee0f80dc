# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Two streams of revisions, out of JSON lines by hand.
task=00112233445566778899aabbccddeeff
row() { # PROGRAM CODE [JQ]
    jq -nc --arg program "$1" --arg code "$2" --arg task $task '{run: "r",
        program: $program, code: $code, task: $task, language: "c"} | '"${3:-.}"
}
{
    row p1 a
    row p2 b '.parent = "p1" | .score = 1.5'
    row p3 b '.parent = "p2"'
    row p4 '' '.iteration = 7'
} | km-trajectories import - -o a.km
{
    row q1 x '.task = "unknown"'
    row q2 y
} | km-trajectories import - --run-parts 2 -o b.km
