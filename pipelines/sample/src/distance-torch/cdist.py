import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")
