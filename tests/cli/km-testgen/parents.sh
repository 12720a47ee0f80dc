# timeout: 300
# A module that cannot be built from guesses is built as its parent builds it:
# in its own source, or in the parent's where that names classes of it.
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
imports='import copy
from torch import nn'
stack=$(cat <<'PY'
class Stack(nn.Module):
    def __init__(self, layer, n, start):
        super().__init__()
        assert start.kind == "ramp"
        self.layers = nn.ModuleList(copy.deepcopy(layer) for _ in range(n))
        self.start = start.at
    def forward(self, x, positions):
        for layer in self.layers:
            x = layer(x, positions * self.start)
        return x
PY
)
gain=$(cat <<'PY'
class Gain(nn.Module):
    def __init__(self, mode, width):
        super().__init__()
        if (mode, width) != ("mixed:4", 24):
            raise ValueError("no such mode")
        self.net = nn.Linear(width, width)
    def forward(self, x):
        return self.net(x).tanh()
PY
)
parts=$(cat <<'PY'
class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, width)
    def forward(self, x, positions):
        return self.net(x) + positions[:, None, None]
class Ramp:
    kind = "ramp"
    def __init__(self, at=1.0):
        self.at = at
PY
)
net=$(cat <<'PY'
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.stem = nn.Linear(64, 24)
        self.gain = Gain("mixed:4", 24)
        self.stack = Stack(Layer(24), n, Ramp(0.5))
    def forward(self, x):
        x = self.gain(self.stem(x))
        return self.stack(x, x.mean((1, 2)))
PY
)
printf '%s\n' "$imports" "$stack" | module Stack
printf '%s\n' "$imports" "$gain" | module Gain '.inlined = []'
printf '%s\n' "$imports" "$gain" "$parts" "$stack" "$net" |
    module Net '.inlined = [{path: "m.py", name: "Stack"}, {path: "m.py",
    name: "Layer"}, {path: "m.py", name: "Ramp"}, {path: "m.py",
    name: "Gain"}]'
testgen --no-store
show
jq -r 'select(.kind == "task" and .name != "Net") | .name,
    (.source | split("\n\n\n")[-3:][]), (.evidence[]),
    (.origin.parts | map(.name) | join(" "))' out
# What children are given is small also where the parent's own task is not.
TARGET=gpu testgen --no-store
show
jq -c 'select(.kind == "task") | [.name, (.small.inputs | map(.shape))]' out
