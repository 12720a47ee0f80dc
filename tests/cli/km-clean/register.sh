# SPDX-License-Identifier: MIT
# Decorators that only register: left out where nobody looks the entry up, kept
# where somebody does, unless the class that it is for is not there; and what a source would need at import.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END2' | clean --json
=== table.py
MODELS, NAMES = {}, {}
VARIANTS = {}
def register_model(name):
    def enter(cls):
        MODELS[name] = cls
        return cls
    return enter
def register_variant(model, name):
    def enter(fn):
        if model not in MODELS:
            raise ValueError(model)
        VARIANTS[name] = fn
        return fn
    return enter
def register_wrapped(fn):
    def call(*args):
        return fn(*args)
    return call
def register_name(cls):
    NAMES[cls.__name__] = cls
    return cls
def build(name):
    return NAMES[name]()
def pick(name):
    return VARIANTS[name]
=== m.py
import os
import torch.nn as nn
from table import build, pick, register_model, register_name, register_variant, register_wrapped
@register_model("big")
class Big(nn.Module):
    def forward(self, x):
        return x
@register_variant("big", "small")
def small(width=1):
    return width
class Unlisted(nn.Module):
    def forward(self, x):
        return x * small()
@register_wrapped
def twice(x):
    return x * 2
class Wrapped(nn.Module):
    def forward(self, x):
        return twice(x)
@register_name
class Listed(nn.Module):
    def forward(self, x):
        return build("Listed")(x)
class Env(nn.Module):
    def forward(self, x):
        return x + int(os.environ["N"])
class Needed(nn.Module):
    if int(os.environ["N"]):
        def forward(self, x):
            return x
class Picks(nn.Module):
    def forward(self, x):
        return x * pick("small") * small()
=== t.py
import torch.nn as nn
try:
    import torch
except ImportError:
    torch = None
def known(x):
    return torch is not None and torch.is_tensor(x)
=== u.py
import torch
from t import known
class Two(torch.nn.Module):
    def forward(self, x):
        return known(x)
=== modules
m.py Big
m.py Unlisted
m.py Wrapped
m.py Listed
m.py Env
m.py Needed
m.py Picks
u.py Two
END2
