# SPDX-License-Identifier: MIT
# Exact duplicates: the first keeps the name of the cluster; a module is no
# duplicate of itself.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records one <<'END' >one.jsonl
=== b.py
import torch
from torch import nn
def helper(a): return a + 1

class Second(nn.Module):
    """Other words."""
    def forward(self, y):
        return helper(y)   # same
=== a.py
from torch import nn
import torch
def add(b):
    return b + 1
class First(nn.Module):
    def forward(self, x):
        return add(x)
class Third(nn.Module):
    def forward(self, x):
        return add(x) + 1
class Attr(nn.Module):
    def forward(self, x):
        return x.a
class Attr2(nn.Module):
    def forward(self, x):
        return x.b
class Text(nn.Module):
    def forward(self, x):
        return "a\n"
class Text2(nn.Module):
    def forward(self, x):
        return "b\n"
=== modules
b.py Second
a.py First
a.py Third
a.py Attr
a.py Attr2
a.py Text
a.py Text2
END
records two <<'END' >two.jsonl
=== z.py
from torch import nn
def add(b):
    return b + 1
class Other(nn.Module):
    def forward(self, x):
        return add(x)
=== modules
z.py Other
END
list() {
    grep -o '"kind":"module".*' | sed 's/"inlined":.*"cluster"/"cluster"/' |
        sed -E 's/.*"id":"([0-9a-f]*)".*"state":"([a-z]*)","why":(\[[^]]*\]).*"name":"([A-Za-z0-9]*)".*"cluster":"([0-9a-f]*)".*/\4 \2 \3 \1 \5/'
}
{
    grep -vh '"kind":"end"' one.jsonl
    grep -v '"kind":"header"' two.jsonl | grep -v '"kind":"end"'
    grep -v '"kind":"header"' one.jsonl
} >all.jsonl
km-clean --json <all.jsonl | list
