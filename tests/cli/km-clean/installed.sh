# What else is installed where a task runs decides nothing in its source.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --json
=== m.py
import importlib.util
from importlib.util import find_spec
from torch import nn

def is_available(name):
    return importlib.util.find_spec(name) is not None

accelerated = is_available("accelerate")
numpy = find_spec("numpy") is not None

if accelerated:
    import accelerate

class Does(nn.Module):
    def forward(self, x):
        return x * numpy + accelerated

=== modules
m.py Does
END
