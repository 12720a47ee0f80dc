# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

m = load_inline(name="m", functions=["f"], cpp_sources="""
torch::Tensor f(torch::Tensor x)
{
    return x.clamp_min(0);
}
""")


class ModelNew(nn.Module):
    def forward(self, x):
        return m.f(x)
