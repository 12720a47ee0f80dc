'''Strings, brackets, comments and blocks that are hard to tell apart.'''
from __future__ import annotations
import torch.nn as nn
__all__ = ['A', "B"]  # kept
__all__ += ["C"]
(a, b), [c, d] = x = f(1, 2), {'k': [3, 4]}
e = f'{a["k"]!r:>{c}}{{' + rb'\'' r"\\" '''it's "#" ''' # said
if (n := g(1, 2)) and __name__ == '__main__':
    for (i, j) in zip([1, 2], (3, 4)): print(i, j)
    with open('f') as (p, q): del (p, q)


@register("a", long_argument=1)
class A(nn.Module, metaclass=make("M", (), {})):
    """Of the class."""

    def f(self,  # a comment ) in here
          x: int = {'a': (1, 2)}['a'][0], *, y=lambda u, v: u) -> "T":
        global made
        made = x
        if x:
            return [
    1, 2,
            ]
            # at the depth of the inner block
        # at that of the function

    async def g(self, x, /, y): return await x  # of one line

    def h(self):
	# a tab
        def inner(aa, bb):
            return aa ** -bb, *cc
        class B(inner): x = 1 \
            + 2
        return B

    z: dict[str, int] = {"a": 1}
