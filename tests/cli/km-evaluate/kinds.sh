# SPDX-License-Identifier: MIT
# Tasks of all kinds: integer inputs, lists and scalars, several outputs, written
# inputs, free functions, 16 bits, batch norm, dropout, no float64. Each with the
# reference under another name, and what was tested of it.
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
head='import torch
import torch.nn as nn
'
tensor() { # SHAPE DTYPE [MORE]
    jq -cn --argjson shape "$1" --arg dtype "$2" --argjson more "${3:-{\}}" \
        '{name: "x", kind: "tensor", shape: $shape, dtype: $dtype} + $more'
}
list() { jq -cs . <<<"$*"; }
out() { jq -cn --argjson s "$1" --arg d "$2" --arg c "${3:-close}" \
    '{shape: $s, dtype: $d, compare: $c}'; }
f32=$(tensor '[8, 32]' float32)
o32=$(out '[8, 32]' float32)
{
    task embedding "$head
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(50, 8)
    def forward(self, i):
        return self.e(i)
" "$(list "$(tensor '[16]' int64 '{"dist": "int", "lo": 0, "hi": 49}')")" \
        "$(list "$(out '[16, 8]' float32)")"
    task arguments "$head
class Model(nn.Module):
    def forward(self, xs, k, scale, flag, mode, mask):
        y = torch.cat(xs, 0)[:k] * scale
        return y if flag and mode == 'a' and mask is None else -y
" "$(list "$(jq -cn --argjson t "$f32" '{kind: "list", items: [$t, $t]}')" \
        '{"kind": "int", "value": 8}' '{"kind": "float", "value": 2}' \
        '{"kind": "bool", "value": true}' '{"kind": "str", "value": "a"}' \
        '{"kind": "none"}')" "$(list "$o32")"
    task outputs "$head
class Model(nn.Module):
    def forward(self, x):
        v, i = x.max(1)
        return {'v': v, 'rest': (i, [x > 0])}
" "$(list "$f32")" "$(list "$(out '[8]' float32)" "$(out '[8]' int64)" \
        "$(out '[8, 32]' bool)")"
    task writes "$head
class Model(nn.Module):
    def forward(self, x, y):
        y.add_(x)
" "$(list "$f32" "$f32")" '[]' '{"mutates": [1]}'
    task function "$head
def Model(x):
    return x.exp()
" "$(list "$f32")" "$(list "$o32")" '{"entry_kind": "function"}'
    task half "$head
class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, 1)
" "$(list "$(tensor '[8, 32]' bfloat16)")" "$(list "$(out '[8, 32]' bfloat16)")"
    task norm "$head
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = nn.BatchNorm1d(32)
    def forward(self, x):
        return self.n(x)
" "$(list "$f32")" "$(list "$o32")"
    task counter "$head
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('n', torch.zeros(1))
    def forward(self, x):
        self.n += 1
        return x * self.n
" "$(list "$f32")" "$(list "$o32")"
    task dropout "$head
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.d = nn.Dropout(0.5)
    def forward(self, x):
        return self.d(x) * 2
" "$(list "$f32")" "$(list "$o32")"
    task single "$head
class Model(nn.Module):
    def forward(self, x):
        return x @ torch.ones(32, 32)
" "$(list "$f32")" "$(list "$o32")"
    task logarithm "$head
class Model(nn.Module):
    def forward(self, x):
        return torch.log(x)
" "$(list "$(tensor '[8, 32]' float32 \
        '{"dist": "uniform", "lo": 1, "hi": 2}')")" "$(list "$o32")"
    task zero "$head
class Model(nn.Module):
    def forward(self, x):
        return x * 0
" "$(list "$f32")" "$(list "$o32")"
    task set "$head
class Model(nn.Module):
    def forward(self, x):
        return x.topk(4, 1, sorted=False)[1]
" "$(list "$f32")" "$(list "$(out '[8, 4]' int64 set)")"
} >tasks
jq -c '{kind: "revision", id: "", state: "ok", why: [], task: .id, run: "test",
    program: .id, language: "torch",
    code: (.source | sub("Model[(]"; "ModelNew("))}' tasks >revisions
evaluate --tasks tasks <revisions >verdicts
jq -r 'select(.kind == "verdict") | .task + ": " + .outcome + ", "
    + ([.correct[]? | select(.tested) | .config
        + if .mode == "train" then "train" else "" end] | join(" "))
    + if .reference.float64 then "" else ", no float64" end
    + ([.findings[]? | ", " + .code] | join(""))
    + ([.correct[]? | select(.why_not == null or (.why_not
        | test("^no |same|tested on D1") | not))
        | select(.tested | not) | "\n  " + .config + " " + .mode + ": "
        + .why_not] | join(""))' verdicts
