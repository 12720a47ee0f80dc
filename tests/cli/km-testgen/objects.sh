# timeout: 300
# Arguments that are objects: in forward they are made of plain tensors, in the
# constructor of what the source reads from them and has for them.
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
module GraphLayer <<'PY'
import torch
from torch import nn
class GraphLayer(nn.Module):
    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.lin = nn.Linear(in_dim, out_dim)
    def forward(self, data):
        x, edge_index = data.x, data.edge_index
        h = self.lin(x)
        out = torch.zeros_like(h)
        out.index_add_(0, edge_index[1], h[edge_index[0]])
        pooled = torch.zeros(2, h.size(1))
        return pooled.index_add_(0, data.batch, out)
PY
module Tables <<'PY'
from torch import nn
class Tables(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.a, self.b = nn.Linear(dim, dim), nn.Linear(dim, dim)
    def forward(self, x):
        return self.a(x["encoder_cont"]) + self.b(x["decoder_cont"]).tanh()
PY
module Nested <<'PY'
import torch
from torch import nn
class NestedTensor:
    def __init__(self, tensors, mask):
        self.tensors, self.mask = tensors, mask
    def decompose(self):
        return self.tensors, self.mask
class Nested(nn.Module):
    def __init__(self, in_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, 8, 3)
    def forward(self, samples: NestedTensor, mask):
        x, inner = samples.decompose()
        y = self.conv(x * inner[:, None]).mean((2, 3))
        return y * mask.float().mean(1, keepdim=True)
PY
module Widened <<'PY'
from torch import nn
class Widened(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.lin = nn.Linear(dim, dim)
    def forward(self, batch):
        return self.inner(batch)
    def inner(self, anything):
        for name in ("first",):
            return self.lin(getattr(anything, name))
PY
module Wrapped <<'PY'
import torch
from torch import nn
class Pair:
    def __init__(self, mean, scale):
        self.mean, self.scale, self.name = mean, scale, "pair"
class Wrapped(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Linear(dim, 2 * dim)
    def forward(self, x):
        return Pair(*self.net(x).chunk(2, -1))
PY
testgen --no-store
show
jq -r 'select(.kind == "task") | .source | split("class Model(")[1] |
    select(contains("super().forward(")) | split("\n")[] |
    select(contains("forward("))' out
