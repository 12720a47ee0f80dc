import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        sums = []
        for i in range(x.shape[-1]):
            part = x[..., : i + 1].double()
            sums.append(part.sum(dim=-1).to(x.dtype))
        return torch.stack(sums, dim=-1)
