set -euo pipefail
task=00112233445566778899aabbccddeeff
{
    printf '\xef\xbb\xbf'
    echo '{"run":"r","program":"s","code":"c0","language":"c","iteration":0}'
    echo '{"run":"r","program":1,"parent":"s","code":"c1","language":"c","iteration":1,"island":2,"generation":3,"sample":4,"model":"m","prompt":"make it fast","reply":"```c\nc1\n```","score":2.5,"correct":true,"metrics":{"a":NaN}}'
    echo
    echo '{"program":"other-run","code":"x","prompt":[{"role":"system","content":"S"},{"role":"user","content":"U"}]}'
    echo '{"run":"r","program":"broken"'
    echo '{"run":"r","code":"no program"}'
    echo '[1]'
    echo '{"run":"r","program":"p","prompt":7}'
    echo '{"run":"r","program":"q","prompt":[{"content":"no role"}]}'
    printf '{"run":"r","program":"long","code":"'
    head -c 15000000 /dev/zero | tr '\0' x
    echo '"}'
    echo '{"run":"r","program":"again","code":"v1","language":"c"}'
    echo '{"run":"r","program":"again","code":"v1","language":"c","score":9}'
    printf '{"run":"r","program":"last","code":"no line feed","language":"c"}'
} >lines.jsonl
show() {
    jq -r 'select(.kind == "revision") | [.run, .program, .parent // "-",
        .state, .why[], .language // "-", .code // "-", .iteration // "-",
        .island // "-", .generation // "-", .sample // "-", .model // "-",
        .replay // "-", .reply_kind // "-", .recorded.score // "-",
        .recorded.correct // "-", (.prompt // [] | map(.role) | join("+")),
        .note // "-"] | join(" ")'
}
km-trajectories import lines.jsonl --task $task --json 2>messages >out
show <out
zstd -q lines.jsonl -o lines.jsonl.zst
km-trajectories import lines.jsonl.zst --task $task --json -q | cmp - out
km-trajectories import - --task $task --json -q <lines.jsonl |
    jq -r '.run // empty' | sort -u
# Cut inside the compressed file: what came before is there, and one reason.
head -c 120 lines.jsonl.zst >cut.jsonl.zst
km-trajectories import cut.jsonl.zst --task $task --json -q | show
# A file of another kind is not read to its end.
for i in {1..1000}; do echo "line $i"; done >log.txt
km-trajectories import log.txt --task $task --json -q | jq -r '.note // empty' |
    head -n 1
