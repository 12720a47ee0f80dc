from __future__ import annotations
from ..a.b import c as d, e
from . import x
from m import *
import a.b, c.d as q
@reg("x")
@nn.foo
class A(nn.Module, Generic[T], metaclass=M):
    x: int = 3
    y = z = 4
    a.b, (c, *d) = 1, 2
    async def f(self, a, b: int = 3, *args: T, c=4, **kw) -> R:
        async with open() as (g, h), k as l: pass
        for i, j in w: pass
        while (n := 3): pass
        try: pass
        except E as ee: pass
        return lambda p, *q, r=s: p
    q = [u for v in w if t for u in v]
match k:
    case [a, *b]: pass
    case Point(x=1, y=yy) | {"k": vv, **rest}: pass
    case str() as s: pass
    case A.B if b: pass
print >>f, "x"
exec "a"
`x`
def g[T: int](a: list[T]): 
    global h, i
    h = f"{a.b!r:>{w}} {c=}"
type X[T] = list[T]
del a.b, c[1], d
x += 1
foo(a=b, *c, **d)
a[1:2] = 3
x: "Foo"
def h(a, /, b, *, c): pass
if a: pass
elif b: pass
else: pass
a.b . c(1)
"a" "b"
with open(x) as f: y = 1
(aa := 3)
for x.y in z: pass
