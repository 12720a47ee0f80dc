import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        blocks = []
        total = torch.zeros_like(x[..., :1])
        for block in x.split(8, dim=-1):
            for i in range(1, block.shape[-1] + 1):
                part = block[..., :i].sum(dim=-1, keepdim=True)
                blocks.append(total + part)
            total = blocks[-1]
        return torch.cat(blocks, dim=-1)
