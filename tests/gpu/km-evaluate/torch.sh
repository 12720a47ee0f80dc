# timeout: 300
# Verdicts on a GPU of what hangs, breaks the driver's context, raises or is
# wrong, and of the honest one after them: outcome, and how it was timed.
. "$SRC/tests/gpu/km-evaluate/fixtures.bash"
need_gpu
gpu_task relu >task
# The first two run into the deadline, or end in the driver's own time.
for name in candidates/{hangs,illegal,wrong,raises} honest/relu_same; do
    revision relu "$gpu_tests/$name.py"
done >revisions
km-evaluate --bare --json --no-store --device cuda --budget 2 --tasks task \
    <revisions >verdicts
jq -rn 'foreach inputs as $r (""; if $r.kind == "revision" then $r.program
        else . end; {name: ., r: $r})
    | .name as $name | .r | select(.kind == "verdict")
    | $name + " " + .outcome + (if .state == "ok" then "" else " " + .note end)
    + (.time | if . == null then "" else " " + .method end)' verdicts
