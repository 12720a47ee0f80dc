# SPDX-License-Identifier: MIT
# What cannot be had raises where it is reached: branches, bodies of hooks,
# functions that are only handed around. What is reached for sure is refused.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --json
=== m.py
import os
import pickle
import torch
from torch import nn
from fancy import fast_norm

def fast(x):
    return fast_norm(x)

def slow(x):
    return x

TABLE = {"fast": fast, "slow": slow}

class Branch(nn.Module):
    def forward(self, x, kind="slow"):
        if kind == "table":
            return TABLE["fast"](x)
        if kind == "fast":
            y = fast_norm(x)
        elif kind == "file":
            y = torch.load(x)
        else:
            y = slow(x)
        try:
            y = fast_norm(y)
        except ImportError:
            y = y + 1
        return y

    def __getstate__(self):
        return pickle.dumps(self.__dict__)

class Only(nn.Module):
    def forward(self, x):
        if x.is_cuda:
            z = fast_norm(x)
        return z

class Both(nn.Module):
    def forward(self, x):
        if x.is_cuda:
            return fast_norm(x)
        else:
            return torch.load(x)

class Sure(nn.Module):
    def forward(self, x):
        return fast(x)

class Loop(nn.Module):
    def forward(self, x):
        for i in range(3):
            x = fast_norm(x)
        return x
=== modules
m.py Branch
m.py Only
m.py Both
m.py Sure
m.py Loop
END

# What stands for names of packages and files, and for defaults that CPython
# does not take.
records s <<'TEXT' | clean --json
=== p/__init__.py
=== p/aggr.py
import torch
class MeanAggregation(torch.nn.Module):
    def forward(self, x):
        return x.mean(0)
class LSTMAggregation(torch.nn.Module):
    def forward(self, x):
        return x
=== p/net.py
import os
import dataclasses
from dataclasses import dataclass, field
import torch
from torch import nn
from peft.layers import BaseTuner
from lightning.pytorch import LightningModule
from huggingface_hub import PyTorchModelHubMixin

@dataclass
class Inner:
    n: int = 1

@dataclass
class Config:
    a: Inner = Inner()
    b: Inner = field(default=Inner(), metadata={"x": 1})

def resolve(name):
    import p.aggr as aggr
    for cls in vars(aggr).values():
        if isinstance(cls, type) and cls.__name__.lower().startswith(name):
            return cls()

class Net(LightningModule, PyTorchModelHubMixin, repo_url="x"):
    def __init__(self, config=Config(), kind="mean"):
        super().__init__()
        self.layer = resolve(kind)
        self.root = os.path.realpath(__file__)

    def forward(self, x):
        for m in self.modules():
            if isinstance(m, BaseTuner):
                m.scale()
        return self.layer(x)
=== modules
p/net.py Net
TEXT
