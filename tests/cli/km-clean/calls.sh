# SPDX-License-Identifier: MIT
# Where the repository makes its modules, in files that they need and in others
# (`caller`), and what it gives them then.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records in <<'END' >all.jsonl
=== pkg/__init__.py
from .net import Net as Renamed, Plain
=== pkg/block.py
from torch import nn
class Block(nn.Module):
    def __init__(self, dim, act=nn.ReLU):
        super().__init__()
        self.fc, self.act = nn.Linear(dim, dim), act()
    def forward(self, x):
        return self.act(self.fc(x))
=== pkg/net.py
import torch
from torch import nn
from .block import Block
WIDTH = 8 * 4
class Net(nn.Module):
    def __init__(self, dim, depth=2, block=Block, head=None):
        super().__init__()
        self.blocks = nn.Sequential(*[block(dim) for _ in range(depth)])
        self.one = Block(dim=WIDTH, act=nn.GELU)
    def forward(self, x, mask=None):
        return self.blocks(x)
class Plain(nn.Module):
    def forward(self, x):
        return x.exp()
class Unseen(nn.Module):
    def forward(self, x):
        return x.log()
def small(depth=1):
    return Net(WIDTH, depth=depth, block=Block, **kwargs)
def any_net(*args):
    return Net(*args)
=== tests/test_net.py
import torch, unittest
from pkg import Renamed, Plain
from pkg.other import thing
DIM = 16
class Test(unittest.TestCase):
    def setUp(self):
        self.batch = 3
        self.net = Renamed(DIM, head=thing).cuda()
    def test(self):
        x = torch.randn(self.batch, 7, DIM)
        y = self.net(x, mask=torch.ones(self.batch, 7).bool())
    def test_plain(self):
        Plain()(torch.rand(2, unknown))
        key = Renamed("AKIAIOSFODNN7EXAMPLE")
=== scripts/local.py
class Net:
    pass
net = Net(99)
=== modules
pkg/block.py Block
pkg/net.py Net
pkg/net.py Plain
pkg/net.py Unseen
END
jq -c 'if .kind == "file" and (.path | startswith("pkg") | not)
       then .caller = true else . end' all.jsonl >in.jsonl
calls() {
    jq -c 'select(.kind == "module") | .name, .calls[]?'
}
km-clean --json <in.jsonl | calls
echo "-- named as in the source"
km-clean --json --kernelbench <in.jsonl | calls | grep -c '"name":"Block"'
echo "-- without the callers"
jq -c 'select(.caller != true)' in.jsonl | km-clean --json | calls | wc -l
echo "-- nothing else differs"
strip='del(.calls, .chain, .digest)'
km-clean --json <in.jsonl | jq -c "$strip" >with
jq -c 'select(.caller != true)' in.jsonl | km-clean --json | jq -c "$strip" |
    cmp - with && echo same
