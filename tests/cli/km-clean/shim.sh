# SPDX-License-Identifier: MIT
# Names of packages that are not there, written anew: operations on named axes,
# the options of a program of which none is given, variables of the environment
# that are only compared. A class that is called by a
# __call__ of its own needs no forward.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --json
=== m.py
import argparse
import os
import einx
from torch import nn
from torch_einops_utils import masked_mean
from torch_einops_utils.nn import Identity

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--hidden", type=int, default=16)
group = parser.add_argument_group("more")
group.add_argument("--bias", default=3)
inner = group.add_mutually_exclusive_group()
inner.add_argument("--deep", default=4)
args = parser.parse_args()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(args.hidden, 2)

    def forward(self, x):
        return self.linear(x)

class Axes(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Identity()

    def forward(self, x, mask):
        x = einx.multiply("b n d, d -> b n d", x, x[0, 0])
        return masked_mean(self.norm(x), mask)

class Other(nn.Module):
    def forward(self, x):
        return einx.sum("a [b]", x)

class Called(nn.Module):
    def __call__(self, x):
        return x + 1

class Leads(nn.Module):
    def __call__(self, x):
        return self.forward(x)

class Upwards(nn.Module):
    def __call__(self, x):
        return super().__call__(x)

class Lower(Called):
    pass

Base = nn.Module
if os.environ["JIT_ON"] == "1":
    Base = nn.Sequential
SIZE = int(os.environ["SIZE"])

class Chosen(Base):
    def forward(self, x):
        if "two" in os.environ["KIND"]:
            return x * 2
        return x

class Sized(Base):
    def forward(self, x):
        return x * SIZE

import yaml

class Writes(nn.Module):
    def __init__(self, **settings):
        super().__init__()
        for k, v in settings.items():
            try:
                yaml.dump(v)
            except Exception:
                setattr(self, k, v)
    def forward(self, x):
        return x
=== modules
m.py Net
m.py Axes
m.py Other
m.py Called
m.py Leads
m.py Upwards
m.py Lower
m.py Chosen
m.py Sized
m.py Writes
END
