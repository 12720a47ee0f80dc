# SPDX-License-Identifier: MIT
# Configurations say where modules are made, as Python does.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records in <<'END' >all.jsonl
=== pkg/__init__.py
from .net import Net as Public
=== pkg/block.py
from torch import nn
class Block(nn.Module):
    def __init__(self, dim, act=nn.ReLU):
        super().__init__()
        self.fc, self.act = nn.Linear(dim, dim), act()
    def forward(self, x):
        return self.act(self.fc(x))
=== pkg/net.py
from torch import nn
from .block import Block
class Net(nn.Module):
    def __init__(self, dim, block=None, sizes=(1,), head=Block, **rest):
        super().__init__()
        self.block = block or head(dim)
    def forward(self, x):
        return self.block(x)
class Twice(nn.Module):
    def forward(self, x):
        return x.exp()
=== pkg/other.py
from torch import nn
class Twice(nn.Module):
    def forward(self, x):
        return x.log()
class Full(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
    def forward(self, x):
        return self.fc(x)
def full():
    return [Full(1), Full(2), Full(3), Full(4), Full(5), Full(6), Full(7),
            Full(8), Full(9)]
=== conf/hyper.yaml
# speech
dim: 16
rate: 1e-3
block: !new:pkg.block.Block
    dim: !ref <dim> * 2
    act: !name:torch.nn.LeakyReLU
net: !new:pkg.Public
    dim: !ref <dim>
    block: !ref <block>
    sizes: (3, 4)
    head: !name:pkg.block.Block
    rate: !ref <rate>
    file: !ref <folder>/net.ckpt
    token: AKIAIOSFODNN7EXAMPLE
=== conf/hydra.yml
size: {dim: 8}
model:
  _target_: pkg.net.Net
  dim: ${size.dim}
  block:
    _target_: pkg.block.Block
    _args_: [4]
    act: {_target_: torch.nn.GELU, _partial_: true}
  env: ${oc.env:HOME}
ambiguous: {_target_: Twice}
nothing: {_target_: pkg.none.Net, dim: 3}
other: {_target_: torch.nn.Linear, in_features: 3}
=== conf/bundle.json
{"n": 24, "net": {"_target_": "Net", "dim": "$@n // 2"}}
=== conf/more.yaml
list:
- {class_path: pkg.other.Full, init_args: {n: 10}}
- {class_path: pkg.other.Full, init_args: {n: 11}}
- {class_path: pkg.other.Full, init_args: {n: 12}}
- {class_path: pkg.other.Full, init_args: {n: 13}}
- {target: pkg.other.Full, params: {n: 14}}
=== conf/broken.yaml
net: !new:pkg.Public {dim: [1}
=== modules
pkg/block.py Block
pkg/net.py Net
pkg/net.py Twice
pkg/other.py Full
END
jq -c 'if .kind == "file" and (.path | startswith("conf"))
       then .caller = true else . end' all.jsonl >in.jsonl
calls() {
    jq -c 'select(.kind == "module") | .name, .calls[]?'
}
km-clean --json <in.jsonl | calls
echo "-- nothing else differs"
strip='del(.calls, .chain, .digest)'
km-clean --json <in.jsonl | jq -c "$strip" >with
jq -c 'select(.caller != true)' in.jsonl | km-clean --json | jq -c "$strip" |
    cmp - with && echo same
km-clean --json --jobs 1 <in.jsonl >one
km-clean --json --jobs 2 <in.jsonl | cmp - one && echo "same for all --jobs"
