# SPDX-License-Identifier: MIT
# Classes local to functions: moved out with what they read of the function,
# when that does not depend on a call of it.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --json
=== m.py
import torch
from torch import nn
import torch.nn.functional as F

SCALE = 3

def test_one(device):
    import math
    from torch.nn import Linear as L
    size = 2 * SCALE
    names = ["a"]
    made = torch.rand(2)

    def twice(x):
        return x * 2

    class Part(nn.Module):
        """Text
that is left alone."""
        def forward(self, x):
            text = """
        as it
    stands"""
            return twice(F.relu(x)) + len(text)

    class Whole(nn.Module):
        class Inner(nn.Module):
            def forward(self, x):
                return x + SCALE

        def __init__(self):
            super(Whole, self).__init__()
            self.part = Part()
            self.linear = L(size, math.ceil(2.5), len(names))

        def forward(self, x):
            return self.linear(self.part(x))

    class Made(nn.Module):
        def forward(self, x):
            return x + made

    class Asks(nn.Module):
        def forward(self, x):
            return x.to(device)

    class Counts(nn.Module):
        def forward(self, x):
            nonlocal size
            size += 1
            return x

    names_seen = []
    class Notes(nn.Module):
        def forward(self, x):
            names_seen.append(1)
            return x
    names_seen.clear()
    return Whole()

class Test:
    def test_two(self):
        class Again(nn.Module):
            def forward(self, x):
                return x
        class Again(nn.Module):
            def forward(self, x):
                return -x
        class User(nn.Module):
            def forward(self, x):
                return Again()(x)

        class Self(nn.Module):
            def forward(_, x):
                return self.scale * x
=== modules
m.py test_one.<locals>.Part
m.py test_one.<locals>.Whole
m.py test_one.<locals>.Whole.Inner
m.py test_one.<locals>.Made
m.py test_one.<locals>.Asks
m.py test_one.<locals>.Counts
m.py test_one.<locals>.Notes
m.py Test.test_two.<locals>.Again
m.py Test.test_two.<locals>.User
m.py Test.test_two.<locals>.Self
END
