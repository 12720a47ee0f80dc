# A run with what real ones have: evicted programs, no-op replies, migrants of
# both styles, dangling parents, copies, an id with two codes.
set -euo pipefail
programs=run1/checkpoints
prog() { # CHECKPOINT ID ITERATION PARENT CODE [JQ that adds to the object]
    mkdir -p "$programs/checkpoint_$1/programs"
    echo '{}' >"$programs/checkpoint_$1/metadata.json"
    jq -nc --arg id "$2" --argjson it "$3" --arg parent "$4" --arg code "$5" '
        {id: $id, code: $code, language: "python", generation: 0,
         parent_id: (if $parent == "" then null else $parent end),
         iteration_found: $it, metrics: {combined_score: $it},
         metadata: {island: 0}} | '"${6:-.}" \
        >"$programs/checkpoint_$1/programs/$2.json"
}
asked() { # REPLY: what a program says about the model
    printf '.prompts = {full_rewrite_user: {system: "S", user: "U",
        responses: [%s]}}' "$(jq -n --arg r "$1" '$r')"
}
diff=$'<<<<<<< SEARCH\n%s\n=======\n%s\n>>>>>>> REPLACE'
# shellcheck disable=SC2059 # the format is ours
block() { printf "$diff" "$1" "$2"; }

prog 5 seed 0 '' $'a\nb'
prog 5 gone 1 seed $'a\nc' "$(asked "$(block b c)")"
prog 10 seed 0 '' $'a\nb'
prog 10 child 2 gone $'x\nc' "$(asked "$(block a x)")"
prog 10 whole 3 seed 'new' "$(asked $'Here:\n```python\nnew\n```')"
prog 10 noop 4 seed $'a\nb' "$(asked "$(block zzz y)")"
prog 10 after 5 noop $'a\nd' "$(asked "$(block b d)")"
prog 10 new-style 0 child $'x\nc' '.metadata.migrant = true'
prog 10 child_migrant_1 0 child $'x\nc'
prog 10 silent 0 child $'x\nc'
prog 10 lost_migrant_2 0 evicted 'only here' '.metadata.migrant = true'
prog 10 orphan 6 nobody 'o' "$(asked $'```python\no\n```')"
prog 10 twin 7 seed 'new' "$(asked 'new')"
prog 10 wrong 8 seed 'w' "$(asked $'```python\nv\n```')"
prog 10 loop1 9 loop2 'l1'
prog 10 loop2 10 loop1 'l2'
prog 10 same1 11 same2 's' "$(asked s)"
prog 10 same2 12 same1 's' "$(asked s)"
prog 5 two 13 seed 'old code'
prog 10 two 13 seed 'new code'
prog 10 nothing 14 seed ''
prog 10 cplusplus 15 seed 'int x;' '.language = "cpp"'

task=00112233445566778899aabbccddeeff
km-trajectories import run1 --task $task -o out.km
km-cat --verify out.km
km-cat --json out.km | jq -r 'select(.kind == "revision") | [.iteration,
    .program, .state, .why[], .parent // "-", .parent_recorded // "-",
    .replay // "-", .reply_kind // "-", (.flags // [] | join(",")),
    .language // "-", .recorded.score, (.prompt // [] | length)] | join(" ")'
km-trajectories import run1 --task $task -o again.km 2>messages
cmp out.km again.km
cat messages
