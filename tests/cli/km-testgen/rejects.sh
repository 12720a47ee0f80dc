# timeout: 300
# What modules can do wrong, each told by its reason; none harms the next one.
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
# plain NAME BODY: a module without parameters
plain() {
    printf '%s\n' 'import os, sys, time' 'import torch' 'from torch import nn' \
        "class $1(nn.Module):" '    def forward(self, x):' \
        "        $2" | module "$1"
}
plain Raises 'raise RuntimeError("never")'
plain Speaks 'raise ValueError(f"{object()} in {__file__}")'
plain Clock 'return x * (time.perf_counter_ns() % 1000003)'
plain Date 'import datetime; return x * datetime.date.today().toordinal()'
plain Month 'return x * (time.localtime().tm_mon + 1)'
# So much memory is new, and zero, unless it is filled.
plain Unwritten 'return x.exp() + torch.empty(1 << 25)[0]'
plain Kept 'self.mean = vars(self).get("mean", x.mean()); return x - self.mean'
plain Counts 'self.n = vars(self).get("n", 0) + 1; return x * (2 + self.n // 12)'
plain Tally 'Tally.n = vars(Tally).get("n", 0) + 1; return x * (2 + Tally.n // 12)'
plain Notes 'sys.modules[__name__].n = globals().get("n", 0) + 1; return x * (2 + n // 12)'
plain Identity 'return x'
plain View 'return x.flatten(), x[..., :1]'
plain Constant 'return torch.ones_like(x) * 3'
plain Infinite 'return x / 0'
plain Picks 'return x[x > 0].exp()'
# As large in each draw of inputs on one scale, but not on another scale.
plain Peak 'return x.flatten()[: 100 + 50 * (x.abs().max() > 7).int()].exp()'
plain Rows 'return torch.cat([x.flatten(), (x[0] > 7).float().to_sparse_csr().values()]).exp()'
plain Nothing 'return x[:0]'
plain Endless 'while True: pass'
plain Swallows 'exec("while True:\n try:\n  while True: pass\n except BaseException: pass")'
plain Hog 'return torch.zeros(1 << 40) + x'
plain Leaves 'os._exit(0)'
plain Aborts 'os.abort()'
plain Forks 'os.fork(); return x + 1'
plain Text 'return "text"'
plain Complex 'return torch.complex(x, x)'
plain Tiny 'return x.tanh() * 1e-4'
plain Floods 'sys.stdout.write("x" * 1000); os.write(1, b"y"); return x * 2'
module Uninitialised <<'PY'
import torch
from torch import nn
class Uninitialised(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.empty(dim))
    def forward(self, x):
        return x * self.scale
PY
module Anyhow <<'PY'
import random
from torch import nn
class Anyhow(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1 + random.SystemRandom().random()
    def forward(self, x):
        return x * self.scale
PY
module Born <<'PY'
import datetime
from torch import nn
class Born(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = datetime.datetime.now().timetuple().tm_yday
    def forward(self, x):
        return x * self.scale
PY
module Cached <<'PY'
from torch import nn
MEANS = {}
class Cached(nn.Module):
    def forward(self, x):
        return x - MEANS.setdefault(x.shape, x.mean())
PY
# No fault: attributes may have any name.
module Names <<'PY'
from torch import nn
class Table(dict):
    pass
class Names(nn.Module):
    def __init__(self):
        super().__init__()
        self.modules = [1, 2]
        self.table = Table(a=3)
        self.table.values = [3]
    def forward(self, x):
        return x * self.table["a"]
PY
# No fault of its own: what it computes has no way back.
module OneWay <<'PY'
import torch
from torch import nn
class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        return x * w.exp()
    @staticmethod
    def backward(ctx, grad):
        raise ValueError("no way back")
class OneWay(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))
    def forward(self, x):
        return Times.apply(x, self.scale)
PY
module UnusedInput <<'PY'
from torch import nn
class UnusedInput(nn.Module):
    def forward(self, x, y):
        return x.exp() + 0 * y
PY
module UnusedItem <<'PY'
from torch import nn
class UnusedItem(nn.Module):
    def forward(self, features):
        first, second = features
        return first.exp()
PY
module LastItem <<'PY'
from torch import nn
class LastItem(nn.Module):
    def forward(self, features):
        return features[-1].exp()
PY
module UnusedParameter <<'PY'
from torch import nn
class UnusedParameter(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.used, self.spare = nn.Linear(dim, dim), nn.Linear(dim, dim)
    def forward(self, x):
        return self.used(x)
PY
module NoInput <<'PY'
import torch
from torch import nn
class NoInput(nn.Module):
    def forward(self):
        return torch.zeros(3)
PY
module NoImport <<'PY'
import no_such_package
from torch import nn
class NoImport(nn.Module):
    def forward(self, x):
        return x
PY
module Unbuilt <<'PY'
from torch import nn
class Unbuilt(nn.Module):
    def __init__(self, dim):
        raise ValueError("not today")
    def forward(self, x):
        return x
PY
# A well-formed frame in the channel, but no reply of the probe.
module Forges <<'PY'
import os
from torch import nn
for fd in range(3, 64):
    try:
        os.write(fd, b"\x81\xa1a\x01")
    except OSError:
        pass
class Forges(nn.Module):
    def forward(self, x):
        return x
PY
# Replies of the probe whose fields are no longer of their form.
module Tampers <<'PY'
import gc
from torch import nn
for channel in [o for o in gc.get_objects() if type(o).__name__ == "Chan"]:
    def send(msg, send=channel.send):
        if "flops" in msg:
            msg["ops"] = [1, 2]
        send(msg)
    channel.send = send
class Tampers(nn.Module):
    def forward(self, x):
        return x.relu()
PY
echo 'x = 1' | module NoClass
module NoSource 'del(.source)' </dev/null
# What is said of its parts goes deeper into a task than it may.
echo 'x = 1' | module Deep '.inlined = reduce range(14) as $i (1; [.])'
echo '{"kind": "module", "x": '"$(printf '[%.0s' {1..20})$(printf ']%.0s' {1..20})"'}' >>stream
plain Last 'return x.relu()'
testgen --no-store --timeout 6
show
