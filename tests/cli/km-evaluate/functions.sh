# SPDX-License-Identifier: MIT
# timeout: 300
# Tasks that km-testgen makes of functions: written arguments, sets, the bounds
# of integers. Right candidates and wrong ones for each.
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
. "$SRC/tests/cli/km-testgen/modules.bash"
def() { # NAME(PARAMETERS) STATEMENT
    printf '%s\n' 'import torch' "def $1:" "    $2" |
        module "${1%%(*}" '.entry_kind = "function"'
}
def 'write(x, out)' 'out.copy_(x.exp())'
def 'top(x)' 'return torch.topk(x.exp(), 4, sorted=False)'
def 'look_up(table: torch.Tensor, idx: torch.LongTensor)' \
    'return torch.index_select(table, 0, idx.view(-1)).exp()'
testgen --no-store
jq -c 'select(.kind == "task")' out >tasks
n=0
candidate() { # TASK NAME < forward's parameters, then its body
    local params
    read -r params
    {
        printf 'import torch\nclass ModelNew(torch.nn.Module):\n'
        printf '    def forward(self, %s):\n' "$params"
        sed 's/^/        /'
    } >code.py
    jq -c --arg task "$1" --arg name "$2" --rawfile code code.py '
        select(.name == $task) | {kind: "revision", id: "", state: "ok",
        why: [], task: .id, run: "test", program: ($task + " " + $name),
        language: "torch", code: $code}' tasks >>revisions
}
candidate write right <<'PY'
x, out
torch.exp(x, out=out)
PY
candidate write returns-it <<'PY'
x, out
return x.exp()
PY
candidate write nothing <<'PY'
x, out
x.exp()
PY
candidate write spoils-input <<'PY'
x, out
torch.exp(x, out=out)
x.zero_()
PY
candidate top sorted <<'PY'
x
return torch.topk(x.exp(), 4)
PY
candidate top reversed <<'PY'
x
v, i = torch.topk(x.exp(), 4)
return v.flip(-1), i.flip(-1)
PY
candidate top repeats <<'PY'
x
v, i = torch.topk(x.exp(), 4)
v[..., 3], i[..., 3] = v[..., 0], i[..., 0]
return v, i
PY
candidate look_up right <<'PY'
table, idx
return table.exp()[idx.view(-1)]
PY
candidate look_up not-the-last <<'PY'
table, idx
return table.exp()[idx.view(-1).clamp(max=table.shape[0] - 2)]
PY
evaluate --tasks tasks <revisions >verdicts
jq -r 'if .kind == "revision" then .program elif .kind == "verdict" then
    ": " + .outcome else empty end' verdicts | paste -d '' - -
