# timeout: 300
# What is too large to be computed as its source says: its shapes are tried
# first, then something smaller is computed.
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
# 17 GB of parameters.
module Deep <<'PY'
from torch import nn
class Deep(nn.Module):
    def __init__(self, hidden_size=8192, depth=64):
        super().__init__()
        self.layers = nn.ModuleList(
            [nn.Linear(hidden_size, hidden_size) for _ in range(depth)])
    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x).relu()
        return x
PY
# The same, and what it takes is told by a failure alone.
module Odd <<'PY'
from torch import nn
class Odd(nn.Module):
    def __init__(self, hidden_size=8192, depth=64):
        super().__init__()
        self.hidden_size = hidden_size
        self.layers = nn.ModuleList(
            [nn.Linear(hidden_size, hidden_size) for _ in range(depth)])
    def forward(self, x):
        y = x.flatten(2).sum(-1)
        if y.shape[1] != self.hidden_size:
            raise ValueError("x has no %d channels" % self.hidden_size)
        for layer in self.layers:
            y = y + layer(y).relu()
        return y
PY
# One product of minutes: nothing would end it in time.
module Long '. + {shapes: {in: {x: ["8192", "2", "512"]}}}' <<'PY'
from torch import nn
class Long(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(512, 512)
    def forward(self, x):
        y = self.layer(x).transpose(0, 1)
        return (y @ y.transpose(1, 2)).softmax(-1) @ y
PY
# Another one where there is no data: its shapes tell nothing.
module Two <<'PY'
from torch import nn
class Two(nn.Module):
    def forward(self, x):
        return x.relu() if not x.is_meta else x[..., :1] + 1
PY
TARGET=gpu testgen --no-store
show
