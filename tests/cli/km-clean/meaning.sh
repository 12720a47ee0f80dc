# SPDX-License-Identifier: MIT
# What is left out must not change what is computed: a method that a base of
# torch calls raises, statements that compute stay, an error that is caught is
# not raised instead of a way, a reference stands only for a plain function, and
# a list that the function hands on is not moved out.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --no-dedup --no-decontaminate --json
=== m.py
import contextlib
import torch
import triton
from torch import nn

class Conv(nn.Conv2d):
    def _conv_forward(self, x, w, b):
        return triton.conv(x, w, b)

class Plain(nn.Module):
    def unused(self, x):
        return triton.conv(x)

    def forward(self, x):
        return x

class Adds(nn.Module):
    def forward(self, x):
        log_prior = x.sum()
        log_prior.add_(triton.conv(x))
        return log_prior

class Buffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("w", triton.conv(3))

    def forward(self, x):
        return x

class Logs(nn.Module):
    def forward(self, x):
        self.log_input(triton.conv(x))
        self.warnOnce(triton.conv(x))
        return x

class Caught(nn.Module):
    def forward(self, x, flag=True):
        try:
            if flag:
                y = torch.load("x")
            else:
                y = x
        except Exception:
            y = 0 * x
        return y

def again_ref(x):
    return again(x)

def again(x):
    return triton.f(x)

class Again(nn.Module):
    def forward(self, x):
        return again(x)

def gen_ref(x):
    return x

def gen(x):
    yield triton.f(x)

class Gen(nn.Module):
    def forward(self, x):
        return sum(gen(x))

def deco_ref(x):
    return x

@contextlib.contextmanager
def deco(x):
    return triton.f(x)

class Deco(nn.Module):
    def forward(self, x):
        return deco(x)

def put_ref(x):
    return x

def put(x):
    triton.f(x)

class Put(nn.Module):
    def forward(self, x):
        put(x)
        return x
=== t.py
from torch import nn

def fill(t):
    t[0] = 9

def test():
    filled = [1]
    fill(filled)
    class Fill(nn.Module):
        def forward(self, x):
            return x * filled[0]

    one = two = [1]
    one[0] = 2
    class Shared(nn.Module):
        def forward(self, x):
            return x * two[0]

    class Set(nn.Module):
        def forward(self, x):
            return x
    setattr(Set, "forward", lambda self, x: -x)

    class Listed(nn.Module):
        names = []
        def forward(self, x):
            return x * len(self.names)
    Listed.names.append(1)
=== modules
m.py Conv
m.py Plain
m.py Adds
m.py Buffer
m.py Logs
m.py Caught
m.py Again
m.py Gen
m.py Deco
m.py Put
t.py test.<locals>.Fill
t.py test.<locals>.Shared
t.py test.<locals>.Set
t.py test.<locals>.Listed
END
