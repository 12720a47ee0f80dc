# Without torch, proposals from the source alone; they say so.
UNVERIFIED=1
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
module Net <<'PY'
from torch import nn
class Net(nn.Module):
    def __init__(self, dim, heads, kernel_size: tuple, act="relu"):
        super().__init__()
        self.conv = nn.Conv2d(dim, dim, kernel_size)
    def forward(self, x, mask):
        b, c, h, w = x.shape
        return self.conv(x)
PY
export KM_PYTHON=/bin/false
km-testgen --bare --json <stream >out 2>err
cat err
show
jq -r 'select(.kind == "task") | .verified, .evidence[], .source' out
unset KM_PYTHON
km-testgen --bare --json <stream 2>err | cmp - out
cat err
