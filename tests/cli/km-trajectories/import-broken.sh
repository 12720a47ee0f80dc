# Every broken or odd file is one record or one reason; nothing is lost.
set -euo pipefail
dir=run/checkpoints/checkpoint_10/programs
mkdir -p $dir run/checkpoints/checkpoint_2/programs run/checkpoints/other
echo '{}' >run/checkpoints/checkpoint_10/metadata.json
say() { printf '%s' "$2" >"$dir/$1.json"; }
say good '{"id":"good","code":"g"}'
say empty ''
say truncated '{"id":"truncated","code":"abc'
say array '[]'
say nan '{"id":"nan","code":"1","metrics":{"combined_score":NaN,"a":Infinity,"b":-Infinity}}'
say text '{"id":"text","code":"2","metrics":{"error":"failed","combined_score":"1.5"}}'
say nested '{"id":"nested","code":"3","metrics":{"runs":[{"ms":1},{"ms":{"x":[2]}}],"success":true}}'
say surrogate '{"id":"surrogate","code":"4\ud800","prompts":null}'
say bom $'\xef\xbb\xbf{"id":"bom","code":"5"}'
say nul '{"id":"nul","code":"6\u0000"}'
say crlf '{"id":"crlf","code":"7\r\n8\r\n"}'
say file-name '{"id":"another-id","code":"9"}'
say no-id '{"code":"10"}'
say utf16 $'\xff\xfe{\x01'
say deep "{\"id\":\"deep\",\"x\":$(printf '[%.0s' {1..99})1$(printf ']%.0s' {1..99})}"
jq -nc '{id: "prompt", code: "11", prompts: {diff_user: {system: "",
    user: ("p" * 600000), responses: ["r"]}}}' >$dir/prompt.json
truncate -s 20M $dir/huge.json
ln -s good.json $dir/link.json
ln -s ../../.. $dir/folder-link.json
mkdir $dir/folder.json
mkfifo $dir/pipe.json
echo not a program >$dir/notes.txt
# A later checkpoint that was cut while it was saved: the older file counts.
mkdir -p run/checkpoints/checkpoint_11/programs
: >run/checkpoints/checkpoint_11/programs/good.json
ln -s checkpoint_10 run/checkpoints/checkpoint_12
mkdir run/checkpoints/checkpoint_13

task=00112233445566778899aabbccddeeff
km-trajectories import run --task $task --json >out
jq -r 'select(.kind == "revision") | [.program, .state, .why[],
    .recorded.score // "-", .recorded.correct // "-",
    (.flags // [] | join(",")), (.code // "" | length),
    (.prompt[0].content // "" | length), .note // "-"] | join(" ")' out
tail -n 1 out
rc=0
km-trajectories import run --task $task --strict -q -o strict.km || rc=$?
echo "strict: $rc"
