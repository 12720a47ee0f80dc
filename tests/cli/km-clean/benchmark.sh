# SPDX-License-Identifier: MIT
# Copies of a benchmark: fingerprints made of two problems, and what is like
# them.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

mkdir -p bench/level2 bench/level3
cat >bench/level2/7_Gate.py <<'END'
import torch
import torch.nn as nn

class Model(nn.Module):
    """Words."""
    def __init__(self, n, k):
        super(Model, self).__init__()
        self.lin = nn.Linear(n, k)
        self.norm = nn.LayerNorm(k)

    def forward(self, x):
        x = self.lin(x)
        x = torch.sigmoid(x) * x
        return self.norm(x)

n = 4
def get_inputs():
    return [torch.rand(2, n)]
END
cat >bench/level3/8_Tiny.py <<'END'
import torch.nn as nn
class Help(nn.Module):
    def forward(self, x):
        return x.log1p()
class Model(nn.Module):
    def forward(self, x):
        return Help()(x) + 1
END
km-clean fingerprint bench --benchmark ours --json | tee ours.json |
    sed -E 's/"grams_[a-z]*":\[[^]]*\]/GRAMS/g'
km-clean fingerprint bench --benchmark ours -o ours.fp

records in <<'END' >in.jsonl
=== a.py
import torch
from torch import nn
from torch.nn import LayerNorm, Linear
class Renamed(nn.Module):
    def forward(self, y: torch.Tensor):
        y = self.a(y)  # other words
        y = (torch.sigmoid(y)
             * y)
        return self.b(y)
    def __init__(self, size, out):
        super().__init__()
        self.b = LayerNorm(out)
        self.a = Linear(size, out)
class Operators(nn.Module):
    def __init__(self, size, out, depth=3, more=None, scale=False, other=1):
        super().__init__()
        self.size = size
        self.out = out
        self.depth = depth
        self.more = more
        if scale and other and depth > 4 and more:
            raise ValueError("too deep for the scale that was asked for")
        self.a = Linear(size, out)
        self.b = LayerNorm(out)
    def forward(self, y, mask=None, other=None, more=None):
        first = self.a(y)
        second = first.sigmoid()
        third = second * first
        return self.b(third)
class Helper(nn.Module):
    def forward(self, z):
        return z.log1p()
class Uses(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.helper = Helper()
        self.conv = nn.Conv2d(n, n, 3)
    def forward(self, z):
        return self.conv(self.helper(z)).amax(1)
=== modules
a.py Renamed
a.py Operators
a.py Helper
a.py Uses
END
outcome() {
    grep '"kind":"module"' | sed -E \
        's/.*"why":(\[[^]]*\]).*"name":"([A-Za-z]*)","line".*/\2 \1 &/;s/(\] ).*("overlap":\{[^}]*\}).*/\1\2/;s/(\] )\{.*/\1/'
}
echo "-- with"
km-clean --json --decontaminate ours.fp <in.jsonl | outcome
echo "-- as JSON lines"
km-clean --json --decontaminate ours.json <in.jsonl | outcome |
    cmp - <(km-clean --json --decontaminate ours.fp <in.jsonl | outcome)
echo "-- without"
km-clean --json <in.jsonl | outcome
echo "-- bad files"
head -c 300 ours.fp >cut.fp
km-clean --decontaminate cut.fp <in.jsonl -o none || echo $?
km-clean --decontaminate missing.fp <in.jsonl -o none || echo $?
km-clean --bare -i in.jsonl -o none.km
km-clean --decontaminate none.km <in.jsonl -o none || echo $?
sed 's/"grams_long":\[/&9,3,/' ours.json >wrong.json
km-clean --decontaminate wrong.json <in.jsonl -o none || echo $?
sed 's/"ast":"./"ast":"g/' ours.json >wrong.json
km-clean --decontaminate wrong.json <in.jsonl -o none || echo $?
echo 'class A(:' >bench/broken.py
km-clean fingerprint bench -o none || echo $?
km-clean fingerprint -o none || echo $?
