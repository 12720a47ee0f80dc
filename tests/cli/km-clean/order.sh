# SPDX-License-Identifier: MIT
# The order in which Python runs the statements, whatever the files import.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --json
=== pkg/__init__.py
from .a import Net
from .b import Even
=== pkg/a.py
import torch.nn as nn
from .registry import register, TABLE
from . import b

class Base(nn.Module):
    def forward(self, x):
        return b.even(x)

@register("net")
class Net(Base):
    table = TABLE

    def forward(self, x):
        return helper(x, self.act)

    act = make_act() if False else None

def helper(x, a):
    return TABLE["net"] if a else Last()
TABLE["extra"] = helper
class Last(Net):
    pass
def make_act():
    return nn.ReLU()
=== pkg/b.py
from .a import Base
class Even(Base):
    def forward(self, x):
        return even(x)
def even(n):
    return n == 0 or odd(n - 1)
def odd(n):
    return n != 0 and even(n - 1)
=== pkg/registry.py
TABLE = {}
def register(name):
    def wrap(cls):
        TABLE[name] = cls
        return cls
    return wrap
=== pkg/loop.py
import torch.nn as nn
NAMES, OTHER = [], []
for i in range(3):
    if i > 1:
        NAMES.append(i)
    def later():
        OTHER.append(i)
with nn.Module() as _:
    print(NAMES.count(1))
class Loop(nn.Module):
    def forward(self, x):
        return NAMES
=== modules
pkg/a.py Net
pkg/b.py Even
pkg/loop.py Loop
END
