import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        step = 1
        while step < x.shape[-1]:
            moved = nn.functional.pad(x[..., :-step], (step, 0))
            x = x + moved
            step *= 2
        return x
