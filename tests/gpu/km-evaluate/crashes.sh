# timeout: 600
# A hundred candidates, every third of which hangs, crashes, reads where nothing
# is or ends its process: no verdict is lost, and none of the others is
# changed.
. "$SRC/tests/cli/km-evaluate/streams.bash"
ls /dev/nvidia[0-9]* >/dev/null 2>&1 || {
    echo "no GPU"
    exit 77
}
. "$SRC/tests/gpu/km-evaluate/tasks.bash"
count=${COUNT:-100}
gpu_task softmax |
    jq -c '.inputs[0].shape = [4096, 2048] | .outputs[0].shape = [4096, 2048]' \
        >tasks

# candidate NUMBER BAD: a softmax that is told from others by a number, and does
# something BAD at its fourth forward.
candidate() {
    cat <<END
import ctypes
import os
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    number = $1

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls == 4:
            $2
        return torch.softmax(x, -1)
END
}
bad=('torch.cuda._sleep(10**13)' 'ctypes.string_at(0)'
    'torch.zeros(1, device=x.device).as_strided((1,), (1,), 0)[torch.full((1,), 1 << 40, device=x.device)]'
    'raise ValueError("now")' 'os.abort()' 'while True: pass')
for ((i = 0; i < count; i++)); do
    what=pass
    [ $((i % 3)) != 2 ] || what=${bad[i / 3 % ${#bad[@]}]}
    candidate "$i" "$what" >"c$i.py"
    revision softmax "c$i.py"
done >revisions
km-evaluate --bare --json --no-store --device cuda --budget 0.3 --tasks tasks \
    <revisions >verdicts
jq -rn '
    reduce inputs as $r ({n: 0, v: []}; if $r.kind == "verdict"
        then .v += [$r] else . end) | .v
    | [to_entries[] | .value.i = .key | .value] as $all
    | [$all[] | select(.i % 3 != 2)] as $good
    | [$all[] | select(.i % 3 == 2)] as $bad
    | ($good | map(.time.ratio // 0) | sort) as $ratios
    | "\($all | length) verdicts, \($good | map(select(.outcome == "ok")) | length) of \($good | length) ok",
      "their ratios within 5 % of 1: \($ratios | map(select(. > 0.95 and . < 1.05)) | length)",
      ($bad | group_by((.i / 3 | floor) % 6)[] | "\(map(.outcome) | unique | join(" ")): \(length)"),
      ($all[] | select(.state != "ok") | "\(.i): \(.note)")' verdicts
