from dataclasses import dataclass
from functools import partial
import math
import torch
from torch import nn


@dataclass
class Config:
    width: int = 12
    depth: int = 2


class Base(nn.Conv1d):
    def __init__(self, *args, scale=(1, 2), **kwargs):
        super().__init__(*args, **kwargs)
        self.scale = scale

    @property
    def half(self):
        return self.in_channels // 2

    def forward(self, x):
        return super().forward(x)


class M(nn.Module):
    table = {'a': 3, 'b': [1, 2, (3, 4)]}

    def __init__(self, config=Config(), **extra):
        super().__init__()
        norm = partial(nn.GroupNorm, 4)
        none = [(lambda: nn.Identity())() for _ in range(2)]
        self.forward = self.run if config.depth > 1 else None
        self.conv = Base(config.width, 8, kernel_size=3, padding=1)
        self.norm = norm(8)
        self.sizes = [int(config.width * r) for r in (0.5, 1.5) if r]

    def run(self, x, *rest, flag=True):
        def inner(t, n=self.conv.half):
            return t[..., :n] if n else t
        try:
            while flag:
                x = self.norm(self.conv(x))
                break
        finally:
            side = int(math.sqrt(x.shape[-1]))
        a, *others = x.split(self.sizes, dim=-1)
        with torch.no_grad():
            x = inner(x).view(x.size(0), -1, side, side)
        return [y for y in zip(range(3), [a] + others)], (lambda u: u[0])(x)
