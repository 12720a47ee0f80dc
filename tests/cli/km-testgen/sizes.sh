# timeout: 300
# Sizes for a GPU: what was a guess grows, what the source says stays; a small
# twin and odd shapes beside it, all of which run.
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
module Affine <<'PY'
from torch import nn
class Affine(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.layer = nn.Linear(in_features, out_features * 2)
    def forward(self, x):
        return self.layer(x)
PY
module ConvBlock <<'PY'
from torch import nn
class ConvBlock(nn.Module):
    def __init__(self, in_planes, planes):
        super().__init__()
        self.conv = nn.Conv2d(in_planes, planes, 3, padding=1)
    def forward(self, x):
        return self.conv(x).relu() + x
PY
module Heads <<'PY'
from torch import nn
class Heads(nn.Module):
    def __init__(self, dim, heads, dim_head):
        super().__init__()
        assert heads * dim_head == dim
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(
            2, 0, 3, 1, 4)
        a = (q @ k.transpose(-1, -2) * (c // self.heads) ** -0.5).softmax(-1)
        return (a @ v).transpose(1, 2).reshape(b, n, c)
PY
module Fixed <<'PY'
from torch import nn
class Fixed(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layer = nn.Linear(width, width)
    def forward(self, x):
        return self.layer(x).tanh()
PY
# More tokens than the table has are an error that shapes alone do not show.
module Table <<'PY'
import torch
from torch import nn
class Table(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.at = nn.Parameter(torch.randn(300, dim))
    def forward(self, x):
        return x * self.at[torch.arange(x.shape[1], device=x.device)]
PY
# Without data this can not be run at all.
module Counted <<'PY'
import torch
from torch import nn
class Counted(nn.Module):
    def forward(self, x):
        return x * (x > 0).sum().item()
PY
# Its input has as many channels as its width, and keeps them: shapes alone do
# not check those of a transposed convolution.
module Up <<'PY'
from torch import nn
class Up(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.ConvTranspose2d(64, dim, 2)
    def forward(self, x):
        return self.up(x)
PY
module Large <<'PY'
from torch import nn
class Large(nn.Module):
    def __init__(self, dim, depth=12):
        super().__init__()
        self.net = nn.Sequential(*[
            nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(),
                          nn.Linear(4 * dim, dim)) for _ in range(depth)])
    def forward(self, x):
        return self.net(x)
PY
TARGET=gpu testgen --no-store
show
"$KM_PYTHON" - <<'PY'
import json
import torch
kinds = {"float32": torch.float32}


def draw(inputs):
    return [torch.randn(i["shape"], dtype=kinds[i["dtype"]]) for i in inputs]


for line in open("out"):
    task = json.loads(line)
    if task["kind"] != "task":
        continue
    space = {"__name__": "task"}
    exec(compile(task["source"], task["name"], "exec"), space)
    small = task["small"]
    model = space["Model"](*small["init"]).eval()
    print(task["name"], task["checked"], small["init"])
    for one in [small] + task["odd"]:
        out = model(*draw(one["inputs"]))
        assert [list(out.shape)] == [o["shape"] for o in one["outputs"]]
        print(" ", *[i["shape"] for i in one["inputs"]])
    if task["checked"] == "cpu":
        model = space["Model"](*space["get_init_inputs"]()).eval()
        out = model(*space["get_inputs"]())
        assert [list(out.shape)] == [o["shape"] for o in task["outputs"]]
PY
