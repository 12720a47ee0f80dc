# SPDX-License-Identifier: MIT
# A package that is not there and without which the file raises: what needs its
# name is refused, not emitted to raise when it is imported.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --json
=== m.py
import importlib.util
from torch import nn

def is_kernels_available():
    return importlib.util.find_spec("kernels") is not None

if is_kernels_available():
    from kernels import get_kernel

    ops = get_kernel("x")
else:
    raise ImportError("needs kernels")

try:
    from apex import fused
except ImportError:
    raise ImportError("needs apex")

try:
    from xformers import attention
except ImportError:
    attention = None

class Needs(nn.Module):
    def forward(self, x):
        return ops.linear(x)

class NeedsFused(nn.Module):
    def forward(self, x):
        return fused(x)

class Does(nn.Module):
    def forward(self, x):
        return x if attention is None else attention(x)

=== modules
m.py Needs
m.py NeedsFused
m.py Does
END
