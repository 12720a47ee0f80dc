# timeout: 300
# Arguments and inputs that are found, and that the task's source alone makes
# the outputs that the record tells.
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
    def __init__(self, in_planes, planes, stride=1, act=nn.ReLU):
        super().__init__()
        self.conv = nn.Conv2d(in_planes, planes, 3, stride=stride, padding=1)
        self.norm = nn.BatchNorm2d(planes)
        self.act = act()
    def forward(self, x):
        return self.act(self.norm(self.conv(x)) + x)
PY
module Attention <<'PY'
import torch
from torch import nn
class Attention(nn.Module):
    def __init__(self, width, num_heads=5):
        super().__init__()
        assert width % num_heads == 0, "width must be divisible by heads"
        self.heads, self.d = num_heads, width // num_heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
    def forward(self, tokens, mask):
        b, n, _ = tokens.shape
        q, k, v = self.qkv(tokens).view(b, n, 3, self.heads, self.d).permute(
            2, 0, 3, 1, 4)
        s = q @ k.transpose(-1, -2) * self.d ** -0.5
        s = s.masked_fill(~mask[:, None, None, :], -1e4)
        return self.out((s.softmax(-1) @ v).transpose(1, 2).flatten(2))
PY
module Tagger <<'PY'
from torch import nn
class Tagger(nn.Module):
    def __init__(self, vocab_size, emb_dim, hidden_size, n_tags: int):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, emb_dim)
        self.rnn = nn.GRU(emb_dim, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, n_tags)
    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0]).argmax(-1)
PY
module Configured <<'PY'
from dataclasses import dataclass
from torch import nn
@dataclass
class MlpConfig:
    width: int
    expand: int = 2
    bias: bool = True
class Configured(nn.Module):
    def __init__(self, config: MlpConfig):
        super().__init__()
        hidden = config.width * config.expand
        self.up = nn.Linear(config.width, hidden, bias=config.bias)
        self.down = nn.Linear(hidden, config.width, bias=config.bias)
    def forward(self, x):
        return self.down(self.up(x).relu())
PY
module ByKeyword <<'PY'
from torch import nn
class Base(nn.Module):
    def __init__(self, *, dim, depth, pool="first"):
        super().__init__()
        assert pool in ("first", "mean")
        self.pool = pool
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
    def forward(self, x, scale=None, *, gain):
        for layer in self.layers:
            x = layer(x).tanh()
        return x.mean(1) * gain if self.pool == "mean" else x[:, 0] * gain
class ByKeyword(Base):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
PY
module Patches <<'PY'
from einops.layers.torch import Rearrange
from torch import nn
class Patches(nn.Module):
    def __init__(self, patch, dim):
        super().__init__()
        self.net = nn.Sequential(
            Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=patch, q=patch),
            nn.Linear(3 * patch ** 2, dim))
    def forward(self, picture):
        return self.net(picture)
PY
module Pyramid <<'PY'
import torch
from torch import nn
class Pyramid(nn.Module):
    def __init__(self, channels: int, norm: str):
        super().__init__()
        self.merge = nn.Conv2d(2 * channels, channels, 1)
        self.norm = {"batch": nn.BatchNorm2d, "instance":
                     nn.InstanceNorm2d}[norm](channels)
    def forward(self, levels):
        first, second = levels
        return self.norm(self.merge(torch.cat([first, second], 1)))
PY
module ShutGate <<'PY'
import torch
from torch import nn
class ShutGate(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(dim))
    def forward(self, x):
        return torch.sin(x) * self.gate
PY
module RootMean <<'PY'
from torch import nn
class RootMean(nn.Module):
    def forward(self, x):
        return x.sqrt().cumsum(-1)
PY
module Model <<'PY'
from torch import nn
class Model(nn.Module):
    def __init__(self, fn):
        super(Model, self).__init__()
        self.fn = fn
    def forward(self, x):
        return self.fn(x).exp()
PY
module InPlace <<'PY'
from torch import nn
class InPlace(nn.Module):
    def forward(self, x):
        return x.mul_(2).add(1)
PY
module Noisy <<'PY'
import torch
from torch import nn
class Noisy(nn.Module):
    def forward(self, x):
        return x + torch.rand_like(x)
PY
testgen --no-store
show
jq -c 'select(.kind == "task")' out >tasks
"$KM_PYTHON" - <<'PY'
import json
for line in open("tasks"):
    task = json.loads(line)
    space = {"__name__": "task"}
    exec(compile(task["source"], task["name"], "exec"), space)
    assert space["get_init_inputs"]() == task["init"], task["name"]
    out = space["Model"](*task["init"]).eval()(*space["get_inputs"]())
    shape = [list(out.shape)]
    assert shape == [o["shape"] for o in task["outputs"]], task["name"]
    print(task["name"], "runs", task["origin"]["path"], task["verified"])
PY
