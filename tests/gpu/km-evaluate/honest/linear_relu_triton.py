# SPDX-License-Identifier: MIT
# task: linear_relu
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def linear(x, w, b, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, K, BK):
        k = at + tl.arange(0, BK)
        u = tl.load(x + m[:, None] * K + k[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        v = tl.load(w + n[None, :] * K + k[:, None],
                    mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc = tl.dot(u, v, acc)
    acc = tl.maximum(acc + tl.load(b + n, mask=n < N, other=0.0)[None, :], 0.0)
    tl.store(y + m[:, None] * N + n[None, :], acc,
             mask=(m[:, None] < M) & (n[None, :] < N))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(512, 512)

    def forward(self, x):
        w, b = self.lin.weight, self.lin.bias
        (M, K), N = x.shape, w.shape[0]
        y = torch.empty((M, N), device=x.device)
        linear[(triton.cdiv(M, 64), triton.cdiv(N, 64))](
            x, w, b, y, M, N, K, BM=64, BN=64, BK=32)
        return y
