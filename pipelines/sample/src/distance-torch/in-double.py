import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        rows = []
        for i in range(x.shape[1]):
            delta = x[:, i : i + 1].double() - x.double()
            total = (delta * delta).sum(dim=-1)
            again = (-delta * -delta).sum(dim=-1)
            rows.append(((total + again) / 2).sqrt().to(x.dtype))
        return torch.stack(rows, dim=1)
