# SPDX-License-Identifier: MIT
# task: cross_entropy
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, i):
        return x.logsumexp(1) - x.gather(1, i[:, None])[:, 0]
