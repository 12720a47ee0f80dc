# SPDX-License-Identifier: MIT
# hack: 19
# task: matmul
# expect: ok
# ratio: about 1
# stopped by: harmless: the reference is in another process, and has TF32 too
import torch
import torch.nn as nn


torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
torch.backends.cudnn.benchmark = True
torch.set_float32_matmul_precision("medium")


class ModelNew(nn.Module):
    def forward(self, a, b):
        return torch.mm(a, b)
