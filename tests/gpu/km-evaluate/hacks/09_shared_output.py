# SPDX-License-Identifier: MIT
# hack: 9
# task: relu
# expect: ok
# ratio: at most 1
# stopped by: harmless: where results share memory they are copied, on the
#   candidate's time
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Returns one buffer again and again."""

    def forward(self, x):
        if not hasattr(self, "y"):
            self.y = torch.empty_like(x)
        return torch.clamp(x, min=0, out=self.y)
