# SPDX-License-Identifier: MIT
# timeout: 300
# Functions: what goes to the constructor, what is written, ranges of integers
# (with their bounds), and what must not pass as deterministic.
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
# def NAME(PARAMETERS) STATEMENT
def() {
    printf '%s\n' 'import random, time' 'import numpy as np' 'import torch' \
        'import torch.nn.functional as F' "def $1:" "    $2" |
        module "${1%%(*}" '.entry_kind = "function"'
}
def 'gelu(x, scale: float = 0.5)' 'return scale * x * (1 + torch.erf(x))'
module attend <<'PY'
import torch
def attend(q, k, v, num_heads):
    b, n, d = q.shape
    q, k, v = [t.view(b, -1, num_heads, d // num_heads).transpose(1, 2)
               for t in (q, k, v)]
    w = torch.softmax(torch.matmul(q, k.transpose(-1, -2)), dim=-1)
    return torch.matmul(w, v).transpose(1, 2).reshape(b, n, d)
PY
module Model <<'PY'
import torch
def Model(x, *, power: int):
    return torch.tanh(x) ** power
PY
def 'write(x, out)' 'out.copy_(x.exp())'
def 'add_to(x: torch.Tensor, y: torch.Tensor)' 'x.add_(y)'
def 'nothing(x: torch.Tensor)' 'torch.exp(x)'
def 'blank(x, out)' 'out.fill_(3.0); torch.exp(x)'
def 'lookup(table: torch.Tensor, idx: torch.LongTensor)' \
    'return torch.index_select(table, 0, idx.view(-1)).exp()'
def 'hot(labels, num_classes)' \
    'return F.one_hot(labels, num_classes).float().cumsum(-1)'
def 'dropped(x)' 'return F.dropout(x.exp(), 0.3, True)'
def 'drawn(x)' 'return x * random.random()'
def 'drawn_by_numpy(x)' 'return torch.exp(x) + np.random.rand()'
def 'clock(x)' 'return torch.exp(x) + time.time() // 1000'
def 'address(x)' 'return torch.exp(x) * (id(x) % 1013)'
def 'top(x)' 'return torch.topk(x, 4, sorted=False)'
def 'top_sorted(x)' 'return torch.topk(x, 4)'
def 'top_share(x)' \
    'v, i = x.topk(4, -1, sorted=False); return torch.softmax(v, -1), i.sum()'
testgen --no-store
show
jq -r 'select(.name == "attend" or .name == "write") | .entry_kind,
    (.source | sub("(?s).*?\n\n\n"; ""))' out
