# SPDX-License-Identifier: MIT
# Imports: only what is used, from the list; guarded ones keep their fallback.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

cat >bundle <<'END'
=== m.py
import torch, cv2
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.checkpoint
from matplotlib import pyplot as plt
from packaging import version
from math import *
import torchvision.ops
from timm.layers import DropPath as TimmDropPath
from other import *
from .missing import gone

try:
    from apex.normalization import FusedLayerNorm
    HAS_APEX = True
except ImportError:
    HAS_APEX = False

try:
    import xformers
except ImportError:
    xformers = None

try:
    from timm.layers import DropPath
except ImportError:
    from other import DropPath

if HAS_FLASH:
    import flash_attn

try:
    import needed
except ImportError as e:
    raise ImportError("install it") from e

class Plain(nn.Module):
    def forward(self, x):
        return F.relu(torch.utils.checkpoint.checkpoint(x) * sqrt(pi))

class Guarded(nn.Module):
    def forward(self, x):
        if HAS_APEX:
            return FusedLayerNorm(x)
        if xformers is not None:
            return xformers.ops.f(x)
        if HAS_FLASH:
            return flash_attn.f(x)
        assert version.parse(torch.__version__) > version.parse("2.0")
        return DropPath()(x)

class Local(nn.Module):
    def forward(self, x):
        import math as m
        import pandas
        try:
            import triton
        except ImportError:
            triton = None
        from other import helper
        return m.sqrt(helper(x)) if triton is None else triton.f(x)

class Denied(nn.Module):
    def forward(self, x):
        return torchvision.ops.nms(x)

class Denied2(nn.Module):
    def forward(self, x):
        import scipy.signal as s
        return s.f(x)

class Needed(nn.Module):
    def forward(self, x):
        return needed.f(x)

class Base(TimmDropPath):
    def forward(self, x):
        return x

class Gone(nn.Module):
    def forward(self, x):
        return gone(x)

class Unknown(nn.Module):
    def forward(self, x):
        return unknown_name(x)

class Star(nn.Module):
    def forward(self, x):
        return public(x)

class Private(nn.Module):
    def forward(self, x):
        return _private(x)
=== other.py
from torch.nn import Identity as DropPath
import os
HAS_FLASH = "FLASH" in os.environ
def helper(x):
    return x
def public(x):
    return _private(x)
def _private(x):
    return helper(x)
=== modules
m.py Plain
m.py Guarded
m.py Local
m.py Denied
m.py Denied2
m.py Needed
m.py Base
m.py Gone
m.py Unknown
m.py Star
m.py Private
END
records r <bundle >in.jsonl
clean --json <in.jsonl
echo "allowed:"
km-clean --json --allow torchvision --allow timm <in.jsonl |
    grep -E '"name":"(Denied|Base)"' | field imports
