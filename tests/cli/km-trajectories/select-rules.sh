# One revision for each rule of the selection.
set -euo pipefail
. "$SRC/tests/cli/km-trajectories/verdicts.bash"
both seed '' 'seed' 0 1.0
both faster seed 'a fast one' 1 2.0
both noise seed 'as fast' 2 1.01
both slower faster 'slower' 3 1.5
both wrong faster 'wrong' 4 - '.outcome = "wrong" | .pass.strict = false'
both cheat faster 'cheats' 5 9.0 '.honest = false | .pass.strict = false'
both library faster 'calls the library' 6 4.0 '.contract.ok = false'
both best faster 'the best' 7 4.0
both good faster 'good, not best' 8 3.0
both orphan nobody 'no parent' 9 4.0
both of-wrong wrong 'parent is wrong' 10 4.0
both elsewhere faster 'on a GPU' 11 4.0 '.device_class = "cuda:sm_90"'
both other-protocol faster 'protocol' 12 4.0 '.protocol = "2"'
both broken faster 'no luck' 13 - '.outcome = "infrastructure" |
    .state = "failed" | .why = ["evaluate.infrastructure"]'
revision silent faster 'no verdict' 14
both untimed faster 'was not timed' 15 -
both shown faster 'shown in the prompt' 16 5.0 '.' \
    '.prompt = [{role: "user", content: "see:  shown\n in the\tprompt."}]'
both hinted faster 'has a hint' 17 3.5 '.' \
    '.prompt = [{role: "user", content: "better is: the best"}]'
both wide faster 'unsure' 18 2.2 '.time.ratio_low = 1.9 | .time.ratio_high = 2.6'
both loop1 loop2 'loop 1' 19 2.0
both loop2 loop1 'loop 2' 20 2.0
revision dropped faster 'x' 21 '.state = "rejected" |
    .why = ["trajectories.noop"] | del(.code)'
verdict unknown 2.0
both other-task faster 'judged elsewhere' 22 5.0 '.task = "f" + .task[1:]'
both outside faster 'ratio outside its interval' 23 5.0 '.time.ratio_high = 4.9'
jq -nc '{kind: "repo", id: "5c1632414362a698f3a4a42ecc5c6bdf",
    state: "ok", why: [], repo: "r"}' >>stream

steps() {
    jq -r 'select(.kind == "step") | [.mode, .child_program, .state, .why[],
        (.gain // "-" | if type == "number" then . * 1000 | round else . end),
        .depth // "-", (.flags // [] | join(",")), .select_reason // "-",
        .note // "-"] | join(" ")'
}
km-trajectories select --bare -i stream -o out.km
km-cat --json out.km >out
km-cat --verify out.km
grep -v '"kind":"step"' out | jq -r '[.kind, .state, .why[]?] | join(" ")'
steps <out
jq -r 'select(.kind == "group") | [.parent_program, .state, .why[],
    .group_kind, .size, .note // "-", (.children // [] | map(.program) |
    join(","))] | join(" ")' out
# A step has all that an example needs.
jq -S 'select(.mode == "rl" and .child_program == "best")' out
# Any order of the records gives the same steps.
sort -r stream >reversed
km-trajectories select --bare -i reversed -o reversed.km
km-cat --json -k step,group reversed.km >a
km-cat --json -k step,group out.km >b
cmp a b
