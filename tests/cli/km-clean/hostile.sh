# SPDX-License-Identifier: MIT
# Cycles, missing parts and depth cost the module they are in, no more.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

deep() { # N times $1, $2, N times $3
    for _ in $(seq 1000); do printf '%s' "$1"; done
    printf '%s' "$2"
    for _ in $(seq 1000); do printf '%s' "$3"; done
}
{
    cat <<'END'
=== m.py
from torch import nn
from n import Cycle, Ping
from gone import Lost
class Self(Self):
    def forward(self, x):
        return x
class A(B):
    def forward(self, x):
        return x
class B(A):
    pass
class FromCycle(Cycle):
    def forward(self, x):
        return x
class FromLost(Lost):
    def forward(self, x):
        return x
class NoForward(nn.Module):
    pass
class List(nn.ModuleList):
    pass
class Linear(nn.Linear):
    pass
class Hidden(nn.Module):
    def __init__(self):
        self.forward = self.other
    def other(self, x):
        return x
class Sum(nn.Module):
    def forward(self, x):
END
    printf '        return %s\n' "$(deep 'x + ' x '')"
    printf 'class Deep(nn.Module):\n    def forward(self, x):\n'
    printf '        return %s\n' "$(deep '(' x ')')"
    cat <<'END'
def f():
    class Local(nn.Module):
        def forward(self, x):
            return x
class Broken(nn.Module):
    def forward(self, x):
        return x +* 1
class Fine(nn.Module):
    def forward(self, x):
        return Ping().forward(x)
class Old(nn.Module):
    def forward(self, x):
        print "x"
        return x
class Older(nn.Module):
    def forward(self, x):
        exec "x"
if __name__ == "__main__":
    class Main(nn.Module):
        def forward(self, x):
            return x
=== n.py
from o import Cycle, Pong
from p import *
from torch import nn
class Ping(nn.Module):
    def forward(self, x):
        return Pong
=== o.py
from n import Cycle, Ping
from p import *
class Pong(Ping):
    pass
=== p.py
from n import *
from o import *
=== d.py
from torch import nn
import torch
class D0(nn.Module):
    def forward(self, x):
        return x
END
    for i in $(seq 1 40); do
        printf 'class D%d(D%d, D%d, D%d):\n' "$i" $((i - 1)) $((i - 1)) $((i - 1))
        printf '    def load(self):\n        return torch.load("x")\n'
    done
    cat <<'END'
=== modules
d.py D40
m.py Self
m.py A
m.py FromCycle
m.py FromLost
m.py NoForward
m.py List
m.py Linear
m.py Hidden
m.py f.<locals>.Local
m.py Broken
m.py Fine
m.py Old
m.py Older
m.py Main
m.py Nowhere
absent.py X
n.py Ping
m.py Deep
m.py Sum
END
} | records r >in.jsonl
clean --json <in.jsonl | cut -c1-150
