# timeout: 300
# Family, tags and graph of a forward; the graph does not depend on names,
# sizes and the order of what is independent.
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
module Gated <<'PY'
from torch import nn
class Gated(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, 2 * dim)
        self.gate = nn.Linear(dim, 2 * dim)
    def forward(self, x):
        a = self.up(x)
        b = self.gate(x).sigmoid()
        return a * b
PY
# The same: other names, another size, another order, in place.
module GatedToo <<'PY'
from torch import nn
class GatedToo(nn.Module):
    def __init__(self, width, inner=96):
        super().__init__()
        self.g = nn.Linear(width, inner)
        self.v = nn.Linear(width, inner)
    def forward(self, tokens):
        switch = self.g(tokens)
        switch.sigmoid_()
        return self.v(tokens).mul_(switch)
PY
# Not the same: the gate works on the other one.
module Chained <<'PY'
from torch import nn
class Chained(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, dim)
        self.gate = nn.Linear(dim, dim)
    def forward(self, x):
        a = self.up(x)
        return a * self.gate(a).sigmoid()
PY
module Recurrent <<'PY'
from torch import nn
class Recurrent(nn.Module):
    def __init__(self, input_size):
        super().__init__()
        self.rnn = nn.LSTM(input_size, 32, batch_first=True)
        self.next = nn.GRU(32, 16, batch_first=True)
    def forward(self, x):
        return self.next(self.rnn(x)[0])[0]
PY
module Attend <<'PY'
from torch import nn
class Attend(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return (q @ k.mT).softmax(-1) @ v
PY
module Up <<'PY'
from torch import nn
class Up(nn.Module):
    def __init__(self, in_channels):
        super().__init__()
        self.up = nn.ConvTranspose2d(in_channels, 16, 2, stride=2)
        self.norm = nn.BatchNorm2d(16)
    def forward(self, x):
        return self.norm(self.up(x))
PY
module Spectrum <<'PY'
import torch
from torch import nn
class Spectrum(nn.Module):
    def forward(self, x):
        return torch.fft.rfft(x).abs()
PY
module Shuffle <<'PY'
import torch
from torch import nn
class Shuffle(nn.Module):
    def forward(self, x):
        return torch.cat([x.flip(1), x], 1)
PY
testgen --no-store
jq -r 'select(.kind == "task") | [.name, .family, .difficulty,
    ([.ops[] | "\(.kind) \(.count)"] | join(", "))] | join(" | ")' out
jq -s 'map(select(.kind == "task")) | (map({key: .name, value: .graph}) |
    from_entries) | (.Gated == .GatedToo), (.Gated == .Chained),
    (map(length == 16) | all)' out
