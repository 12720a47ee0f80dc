# SPDX-License-Identifier: MIT
# Equal names in several files: the entry keeps its own, others get numbers; no
# local name and no builtin is captured.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --json
=== a.py
from torch import nn
from b import exists as there, total, Base
import b
class Net(nn.Module):
    def exists(self):
        return 1
    def forward(self, x, sum_2=3):
        total_2 = 1
        return [exists(x), there(x), total([x]), sum([total_2]), b.nn(x)]
def exists(v):
    return v is not None
class Child(Base):
    total = total
    def forward(self, x, there=None):
        return b.exists(x) if there else exists(x)
class Base(Base):
    def forward(self, x):
        return x
=== b.py
from torch.nn import Module
def exists(v):
    return bool(v)
def sum(v):
    return v
total = sum
def nn(x):
    global count
    count = count + 1
    return x
count = 0
class Base(Module):
    pass
=== modules
a.py Net
a.py Child
a.py Base
END
