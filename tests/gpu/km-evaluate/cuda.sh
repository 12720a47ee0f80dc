# timeout: 300
# Candidates in language cuda: kernels with a launch plan, compiled for the GPU
# at hand, without any Python of theirs. Each says what it is a candidate for and
# which outcome is right.
. "$SRC/tests/cli/km-evaluate/streams.bash"
ls /dev/nvidia[0-9]* >/dev/null 2>&1 || {
    echo "no GPU"
    exit 77
}
folder=$SRC/tests/gpu/km-evaluate/cuda

# module ID INIT FORWARD INPUTS OUTPUTS [MORE]
module() {
    task "$1" "import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        $2

    def forward(self, x, by=None):
        return $3
" "$4" "$5" "${6:-{\}}"
}
# normal ROWS COLUMNS DTYPE; out ROWS COLUMNS DTYPE
normal() {
    jq -cn --argjson a "$1" --argjson b "$2" --arg t "${3:-float32}" \
        '[{name: "x", kind: "tensor", shape: [$a, $b], dtype: $t,
           dist: "normal"}]'
}
out() {
    jq -cn --argjson a "$1" --argjson b "$2" --arg t "${3:-float32}" \
        '[{shape: [$a, $b], dtype: $t, compare: "close"}]'
}
{
    module relu pass 'torch.relu(x)' "$(normal 2048 1024)" "$(out 2048 1024)"
    module softmax pass 'torch.softmax(x, 1)' "$(normal 2048 2048)" \
        "$(out 2048 2048)"
    module layer_norm 'self.n = nn.LayerNorm(1024)' 'self.n(x)' \
        "$(normal 2048 1024)" "$(out 2048 1024)"
    module linear 'self.l = nn.Linear(256, 384)' 'self.l(x)' \
        "$(normal 512 256)" "$(out 512 384)"
    module total pass 'x.sum().reshape(1, 1)' "$(normal 1024 1024)" \
        "$(out 1 1)"
    module argmax pass 'x.argmax(1)' "$(normal 4096 512)" \
        '[{"shape": [4096], "dtype": "int64", "compare": "exact"}]'
    module gelu_half pass 'F.gelu(x)' "$(normal 512 1024 float16)" \
        "$(out 512 1024 float16)" '{"dtype": "fp16"}'
    module scaled pass '(x * by, x + by)' \
        "$(normal 256 256 | jq -c '. + [{name: "by", kind: "float",
           value: 1.5}]')" "$(out 256 256 | jq -c '. + .')"
} >tasks
names=${ONLY:-$(cd "$folder" && ls ./*.cu | sed 's|^./||; s/\.cu$//')}
for name in $names; do
    revision "$(sed -n 's|^// task: ||p' "$folder/$name.cu")" "$folder/$name.cu"
done >revisions
km-evaluate --bare --json --no-store --device cuda --budget 1 --tasks tasks \
    <revisions >verdicts
jq -r 'select(.kind == "verdict")
    | .outcome + "\t" + ([.feedback, .note, (.time | if . then
        "\(.method) \(.eager) \(.reference_ns) \(.candidate_ns) \(.ratio) \(.low) \(.high)"
        else "" end), (.findings // [] | tostring)] | map(. // "") | join(" "))' \
    verdicts >told
for name in $names; do
    IFS=$'\t' read -r outcome more <&3
    wanted=$(sed -n 's|^// expect: ||p' "$folder/$name.cu")
    if [ "$outcome" = "$wanted" ]; then
        echo "ok $name $outcome"
        [ -z "${TELL:-}" ] || echo "   $more" >&2
    else
        echo "BAD $name $outcome (expected $wanted) $more"
    fi
done 3<told
