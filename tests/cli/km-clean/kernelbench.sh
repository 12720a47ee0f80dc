# SPDX-License-Identifier: MIT
# The entry in KernelBench form; what was called so before makes room.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records kb <<'END' >in.jsonl
=== a.py
import torch
from torch import nn
class Model(nn.Module):
    def forward(self, x):
        return x.cumsum(0)
class Net(nn.Module):
    class Inner(nn.Module):
        def forward(self, x):
            return x.cummax(0)[0]
    def __init__(self, n):
        super(Net, self).__init__()
        self.n = n
        self.part = Model()
        self.inner = Net.Inner()
    def forward(self, x):
        return self.part(x) * self.n - self.inner(x)
=== modules
a.py Net
a.py Net.Inner
a.py Model
END
clean --json --kernelbench <in.jsonl
