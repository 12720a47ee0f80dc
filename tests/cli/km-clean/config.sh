# SPDX-License-Identifier: MIT
# Configuration classes come along when only an annotation names them, whole
# modules do not; annotations that cannot be had stay text.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --json
=== m.py
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Optional
from torch import Tensor, nn
from jaxtyping import Float
from big import Huge
if TYPE_CHECKING:
    from conf import Extra

class Kind(Enum):
    A = "a"

@dataclass
class Config:
    dim: int = 8
    kind: Kind = Kind.A
    sizes: list = field(default_factory=lambda: [1, DEPTH])
    other: "Unknown" = None

DEPTH = 2

class Net(nn.Module):
    def __init__(self, cfg: Config, extra: "Extra" = None):
        super().__init__()
        self.cfg = cfg

    def forward(self, x: Float[Tensor, "b d"], h: Optional[Huge] = None) -> Tensor:
        return x

class Late(nn.Module):
    def forward(self, x: "Tensor", e: Extra):
        return x
=== big.py
from torch import nn
class Huge(nn.Module):
    def forward(self, x):
        return x
=== conf.py
class Extra:
    size = 3
=== modules
m.py Net
m.py Late
END
