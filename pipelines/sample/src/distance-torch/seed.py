import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        rows = []
        for point in x.unbind(1):
            delta = point.unsqueeze(1) - x
            rows.append((delta * delta).sum(dim=-1).sqrt())
        return torch.stack(rows, dim=1)
