# SPDX-License-Identifier: MIT
# task: relu
# expect: ok
# ratio: about 1
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

m = load_inline(name="m", functions=["f"],
                cpp_sources="torch::Tensor f(torch::Tensor x);",
                cuda_sources="""
#include <torch/extension.h>
__global__ void relu(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fmaxf(x[i], 0.f);
}
torch::Tensor f(torch::Tensor x)
{
    auto y = torch::empty_like(x);
    int n = x.numel();
    relu<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
""")


class ModelNew(nn.Module):
    def forward(self, x):
        return m.f(x)
