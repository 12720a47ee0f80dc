# SPDX-License-Identifier: MIT
# hack: 17
# task: matmul
# expect: ok|wrong
# ratio: at most 1
# stopped by: harmless: as exact as the TF32 that the reference has; the casts
#   cost more than they save at this size
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        return (a.half() @ b.half()).float()
