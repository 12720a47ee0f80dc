# timeout: 120
# Attention by FlexAttention: an operator of Python that is made of others, for
# which torch has its compiler where it is not told otherwise.
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
module Flexible <<'PY'
import torch
from torch import nn
from torch.nn.attention.flex_attention import flex_attention
class Flexible(nn.Module):
    def __init__(self, dim=64, heads=4):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, 3 * dim)
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2)
                   for t in self.to_qkv(x).chunk(3, -1))
        return flex_attention(q, k, v).transpose(1, 2).reshape(b, n, d)
PY
testgen --no-store --target gpu
show
