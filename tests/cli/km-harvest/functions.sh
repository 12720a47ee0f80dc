# Functions that compute on tensors, and what only looks like one.
. "$SRC/tests/cli/km-harvest/repos.bash"
repo r
commit r LICENSE "$MIT" \
    pkg/__init__.py '' \
    pkg/names.py 'from torch.nn.functional import softmax as soft\n' \
    pkg/ops.py 'import torch
import torch.nn.functional as F, click, triton, pytest
from torch import Tensor
from torch import nn
from pkg.names import soft
import numpy as np
def first_argument(x): return torch.relu(x)
def through_import(x): return soft(x, -1)
def method(x): return x.unsqueeze(0)
def annotated(x: Tensor, y): return y * x
def listed(a, b): return torch.cat([a, b])
def writes(x, out): out.copy_(x)
@torch.no_grad()
def decorated(x): return F.gelu(x)
def own_import(x):
    import torch as t
    return t.exp(x)
class Layer(nn.Module):
    def forward(self, x): return self.help(x)
    def help(self, x): return torch.exp(x)
def local():
    def inner(x): return torch.exp(x)
    return inner
def array(x): return np.exp(x)
def shadowed(torch, x): return torch.softplus(x)
def sizes(n): return torch.zeros(n)
def builds(n): return nn.Linear(n, n)
def annotated_only(x: Tensor): return print(x)
def trains(model, x):
    model.zero_grad()
    return torch.exp(x)
def yields(x): yield torch.exp(x)
async def waits(x): return torch.exp(x)
@triton.jit
def kernel(x): return torch.exp(x)
@pytest.fixture
def fixture(x): return torch.exp(x)
@click.command()
def command(x): return torch.exp(x)
def test_this(x): return torch.exp(x)
def main(x): return torch.exp(x)
def __getattr__(x): return torch.exp(x)
if __name__ == "__main__":
    def script(x): return torch.exp(x)
def twice(x): return torch.exp(x)
def twice(x): return torch.tanh(x)
' \
    pkg/plain.py 'def exp(x): return x.view(-1)\n' \
    tests/helper.py 'import torch\ndef helps(x): return torch.exp(x)\n' \
    test_it.py 'import torch\ndef helps(x): return torch.exp(x)\n'
km-harvest --functions --json r | show '(.name // .path // .counts)'
km-harvest --functions --json r | jq -c 'select(.name == "decorated" or .name == "Layer")
    | [.name, .entry_kind, .line, .end_line, .bases]'
km-harvest --json r | show '(.name // .path // .counts)'
