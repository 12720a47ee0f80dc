# timeout: 600
# Verdicts on a GPU of the same module by PyTorch, Triton and CUDA, of honest ones
# that need care, and of wrong, broken and hostile ones: outcome, findings, how it
# was timed, and whether the ratio is near what it must be.
. "$SRC/tests/cli/km-evaluate/streams.bash"
ls /dev/nvidia[0-9]* >/dev/null 2>&1 || {
    echo "no GPU"
    exit 77
}
candidates=$SRC/tests/gpu/km-evaluate/candidates
# The first two run into the deadline, or end in the driver's own time.
order=(hangs illegal same triton_relu triton_autotuned inline_cuda streams
    own_buffer synchronizes legacy_stream wrong raises out_of_bounds zeroes_input
    first_result does_not_wait replays_nothing keeps_busy forges_places)
relu_task | jq -c '.inputs[0].shape = [256, 1024] | .inputs[0].dist = "normal"
    | .outputs[0].shape = [256, 1024]' >task
for name in "${order[@]}"; do
    revision relu "$candidates/$name.py"
done >revisions
km-evaluate --bare --json --no-store --device cuda --budget 2 --tasks task \
    <revisions >verdicts
jq -rn --argjson near '["same", "triton_relu", "triton_autotuned", "inline_cuda"]' '
    foreach inputs as $r (""; if $r.kind == "revision" then $r.program else . end;
        {name: ., r: $r})
    | .name as $name | .r | select(.kind == "verdict")
    | $name + " " + .outcome + (if .state == "ok" then "" else " " + .note end)
    + ([.findings // [] | .[] | select(.source == "dynamic")
        | " " + .grade + ":" + .code] | unique | join(""))
    + (.time | if . == null then ""
       else " " + .method + (if .eager then " (" + .eager + ")" else "" end)
       + (if $near | index($name) | not then ""
          elif .ratio > 0.9 and .ratio < 1.15 then " about 1"
          else " \(.ratio)" end) end)' verdicts
