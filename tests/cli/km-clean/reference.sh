# SPDX-License-Identifier: MIT
# A function that launches a kernel calls its reference of the same file; an if
# statement of which only ways that raise are left is no way past.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --json
=== ops.py
import torch
import triton
from typing import Optional

def norm_ref(x, weight, bias, eps=1e-6, prenorm=False, upcast=False):
    y = x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight
    return (y, x) if prenorm else y

def _launch(x, weight):
    return x * triton.cdiv(3, 2)

def norm_fn(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: Optional[torch.Tensor],
    eps: float = 1e-6,
    prenorm=False,
    out: Optional[torch.Tensor] = None,
    fp32=False,
):
    return _launch(x, weight)

def scale_ref(x):
    return x

def scale(x, by):
    return _launch(x, by)

def turn_ref(x, angle):
    return x

def turn(x):
    return _launch(x, x)

def mix_ref(x):
    return x

def mix(x, *more):
    return _launch(x, x)
=== m.py
from torch import nn
from ops import mix, norm_fn, scale, turn

class Norm(nn.Module):
    def forward(self, x):
        return norm_fn(x, self.weight, None, out=None)

class Scale(nn.Module):
    def forward(self, x):
        return scale(x, 2)

class Turn(nn.Module):
    def forward(self, x):
        return turn(x)

class Mix(nn.Module):
    def forward(self, x):
        return mix(x)

class Hollow(nn.Module):
    def forward(self, x, mode):
        if mode == "a":
            return turn(x)
        elif mode == "b":
            return mix(x)
        else:
            raise NotImplementedError(mode)
=== modules
m.py Norm
m.py Scale
m.py Turn
m.py Mix
m.py Hollow
END
