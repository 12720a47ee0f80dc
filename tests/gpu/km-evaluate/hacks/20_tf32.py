# SPDX-License-Identifier: MIT
# hack: 20
# task: matmul
# expect: ok
# ratio: about 1
# stopped by: harmless: the reference it is timed against has TF32 too
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Honest: TF32 where a reference in full precision would lose."""

    def forward(self, a, b):
        torch.backends.cuda.matmul.allow_tf32 = True
        return torch.mm(a, b)
