# What would not fit into one record costs that record, not the stream.
. "$SRC/tests/cli/km-trajectories/verdicts.bash"
big() { head -c 9000000 /dev/zero | tr '\0' "$1"; }
both seed '' 'seed' 0 1.0
both large seed 'a' 1 2.0
both larger large 'b' 2 3.0
both deep seed 'c' 3 4.0
jq -c 'if .kind != "revision" then . elif .program == "large" or
    .program == "larger" then .code = .code * 9000000 elif .program == "deep"
    then .prompt = reduce range(14) as $i ([]; [.]) else . end' stream >limits
# A failed verdict says nothing about one that was reached, wherever it ran.
jq -c 'select(.program == "seed" or .revision) | select(.kind == "verdict") |
    .state = "failed" | .outcome = "infrastructure" | .device_class = "other"' \
    stream >failed
cat limits failed | km-trajectories select --bare -q -o out.km
km-cat --verify out.km
km-cat --json out.km | jq -r 'select(.kind == "step" or .kind == "group") |
    [.kind, .mode // "-", .child_program // .parent_program // "-", .state,
     .why[], .note // "-"] | join(" ")'
