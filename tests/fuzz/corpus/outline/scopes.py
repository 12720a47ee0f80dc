from pkg import *
from . import n as N, m
import torch.nn as nn, pkg.n
__all__ = ['A', "B"]
__all__ += ["f"]
class A(nn.Module):
    dim = dim
    def f(self, x, y: int = 3, *a, k=lambda q: q + dim, **kw) -> "A":
        global G
        G = [i * j for i in x for j in y if (z := i)]
        def g():
            nonlocal x
            x += 1
            return super().f(x), self.a.b[0].c()
        return g, z
    class B(A, N.C): pass
try:
    from fast import B
except ImportError as e:
    class B(A.B): pass
C = N.C
class D(C, metaclass=M): pass
if __name__ == "__main__":
    with open(f"{A!r:>{10}}") as fh, D() as (p, *q): print(fh, p, q)
