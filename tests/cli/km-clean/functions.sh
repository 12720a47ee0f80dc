# SPDX-License-Identifier: MIT
# Functions as entries: what they need, what is refused, duplicates of both
# kinds, a benchmark's problem, the form of KernelBench.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

rounds() {
    printf 'def %s(x, scale):\n    y = x * scale\n' "$1"
    for i in 1 2 3 4 5 6 7; do
        printf '    y = torch.relu(y + %d) * torch.sigmoid(x - %d)\n' $i "$2"
    done
    printf '    return y\n'
}
{
    cat <<'END'
=== util.py
import torch
EPS = 1e-6
def mean_square(x):
    return torch.mean(x * x, dim=-1, keepdim=True)
=== ops.py
import os
import torch
from typing import Optional
from util import mean_square as ms, EPS
from torch import Tensor
@torch.jit.script
def rms(x: Tensor, weight: Optional[Tensor] = None, *, eps: float = EPS):
    """Of the last axis."""
    print("called")
    y = x / torch.sqrt(ms(x) + eps)
    return y if weight is None else y * weight
def listed(x):
    os.system("ls")
    return torch.exp(x)
class Layer:
    def method(self, x):
        return torch.exp(x)
def copied(a, b):
    return torch.matmul(a, b)
def Model(x):
    return x.exp()
def uses(x, *rest, **more):
    return Model(x) + rest[0]
=== same.py
import torch
def copied(u, v):
    return torch.matmul(u, v)
=== near.py
import torch
END
    rounds one 3
    rounds two 4
    cat <<'END'
=== modules
ops.py rms function
ops.py listed function
ops.py Layer.method function
ops.py copied function
ops.py Layer function
ops.py rms
ops.py uses function
ops.py Model function
same.py copied function
near.py one function
near.py two function
END
} | records r >in.jsonl
clean --json <in.jsonl
echo '==== kernelbench'
records kb <<'END' >kb.jsonl
=== a.py
from torch import Tensor
def act(x, *rest, scale: float = 2.0, **more):
    return x.tanh() * scale + rest[0]
def Model(x):
    return x.cumsum(0)
def norm(x: Tensor, dim=-1, *, eps: float = 1e-6):
    return x / (x.abs().sum(dim) + eps)
def uses(x):
    return Model(x).exp()
=== modules
a.py act function
a.py norm function
a.py uses function
END
clean --json --kernelbench <kb.jsonl
