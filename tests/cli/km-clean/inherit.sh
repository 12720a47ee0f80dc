# SPDX-License-Identifier: MIT
# Bases, helpers and constants from other files of the repository: relative and
# absolute imports, re-exports, aliases, modules as prefixes, nested classes.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' >in.jsonl
=== pkg/__init__.py
from .nets import Net
=== pkg/layers/__init__.py
from .conv import ConvBlock as Block
from . import act
=== pkg/layers/act.py
import torch
UNUSED = torch.zeros(3)
SCALE: float = 0.5
def swish(x):
    return x * torch.sigmoid(x) * SCALE
=== pkg/layers/conv.py
import torch.nn as nn
from ..util import pair, default

class ConvBlock(nn.Module):
    def __init__(self, c, k=3):
        super().__init__()
        self.conv = nn.Conv2d(c, c, pair(default(k, 3)))

    def forward(self, x):
        return self.conv(x)
=== pkg/util.py
import os
def exists(v):
    return v is not None
def default(v, d):
    return v if exists(v) else d
def pair(t):
    return t if isinstance(t, tuple) else (t, t)
def save(x):
    os.system("x")
=== pkg/nets.py
from pkg import layers as L
from .layers import Block
import pkg.util as u
class Net(Block):
    def forward(self, x):
        from .layers.act import swish as activation
        return activation(super().forward(x)) + L.act.SCALE * len(u.pair(x))

class Outer:
    class Inner(Block):
        size = u.pair(2)
=== modules
pkg/layers/conv.py ConvBlock
pkg/nets.py Net
pkg/nets.py Outer.Inner
END
clean --json <in.jsonl
km-clean --json <in.jsonl | grep '"Net"' | grep -o '"inlined":.*'
km-clean --json <in.jsonl | field entry
