# timeout: 300
# States from `calls`, what is open in them, and calls that are not as described.
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
source='import torch
from torch import nn
class Part(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
    def forward(self, x):
        return self.fc(x)
class Known(nn.Module):
    def __init__(self, plan, act, part, depth, norm=None):
        super().__init__()
        if plan != {"widths": (11, 13), "kind": "odd"} or depth < 1:
            raise ValueError("no plan")
        self.fc = nn.Linear(*plan["widths"])
        self.act, self.part = act(), part
        self.norm = norm(13) if norm else nn.Identity()
    def forward(self, x, scale, mask=None):
        x = self.part(self.norm(self.act(self.fc(x))))
        assert x.shape[1] == 5
        return x * scale * (1 if mask is None else mask)
'
good='{path: "tests/t.py", line: 7,
  args: [{dict: {widths: {tuple: [11, 13]}, kind: "odd"}},
         {name: "torch.nn.GELU"}, {call: "Part", args: [13]}, {unknown: true}],
  kw: {norm: {call: "functools.partial", args: [{name: "torch.nn.LayerNorm"}],
              kw: {eps: 0.01}}},
  inputs: {args: [{kind: "tensor", shape: [null, 5, 11], dtype: "float32",
                   dist: "normal"}, {kind: "value", value: 0.5}],
           kw: {mask: {kind: "tensor", shape: [5, 13], dtype: "bool",
                       dist: "bool"}}}}'
module Known ".name = \"Known\" | .calls = [$good]" <<<"$source"
# Too large to run as it stands, but the sizes can be smaller.
module Large '.calls = [{path: "a.py", line: 1, args: [64], inputs: {args:
    [{kind: "tensor", shape: [64, 64, 1024, 1024], dtype: "float32",
      dist: "normal"}]}}]' <<'PY'
from torch import nn
class Large(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3)
    def forward(self, x):
        return self.conv(x)
PY
# None of these reaches the interpreter; the module itself is found as ever.
n=0
while read -r call; do
    n=$((n + 1))
    module "Bad$n" ".calls = $call | (.calls[]? | objects) |=
        ({path: \"t.py\", line: $n} + .)" <<PY
from torch import nn
class Bad$n(nn.Module):
    def __init__(self, dim, act=None):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
    def forward(self, x):
        return self.fc(x)
PY
done <<'END'
[{args: [8], kw: {act: {name: "__import__('os').abort()"}}}]
[{args: [8], kw: {act: {name: "torch.nn.GELU()"}}}]
[{args: [8], kw: {act: {call: "nn", kw: {"a=exit(),b": 1}}}}]
[{args: [8], kw: {act: {dict: {"$": "exit()"}}}}]
[{args: [8], kw: {act: {"$": "exit()"}}}]
[{args: [8], kw: {"act=exit(),dim": 8}}]
[{args: [8, 9, 10, 11]}]
[{args: {a: 1}, kw: [1]}, {path: 5, args: [8]}, 5, null, {}]
[{args: [8], inputs: {args: [{kind: "tensor", shape: [2, 99999999], dtype: "float32"}]}}]
[{args: [8], inputs: {args: [{kind: "tensor", shape: [2, 8], dtype: "x);exit("}]}}]
[{args: [9999999999]}]
END
testgen
show | cut -d'|' -f 1-7
jq -c 'select(.kind == "task") | [.name, ([.evidence[] | .. | strings |
    select(contains("call at"))] | unique)]' out
jq -r 'select(.name == "Known") | .source' out | grep -n 'super().__init__(plan'
