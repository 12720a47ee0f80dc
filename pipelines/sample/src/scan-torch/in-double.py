import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        total = torch.zeros_like(x[..., 0], dtype=torch.float64)
        again = total
        sums = []
        for column in x.unbind(-1):
            total = total + column.double()
            again = again + column.double()
            sums.append((total + again) / 2)
        return torch.stack(sums, dim=-1).to(x.dtype)
