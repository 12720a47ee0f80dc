# timeout: 120
# A runner uses the vector instructions that torch finds outside of the sandbox.
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
module Tells <<'PY'
import torch
from torch import nn
class Tells(nn.Module):
    def forward(self, x):
        raise ValueError("<" + torch.backends.cpu.get_cpu_capability() + ">")
PY
testgen --no-store --attempts 1
inside=$(jq -r 'select(.kind == "module") | .note | match("<(.*)>").captures[0].string' out)
outside=$("$KM_PYTHON" -c 'import torch; print(torch.backends.cpu.get_cpu_capability())')
if [ "$inside" = "$outside" ]; then echo the same; else echo "$inside, not $outside"; fi
