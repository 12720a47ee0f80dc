# SPDX-License-Identifier: MIT
# task: matmul
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune([triton.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4),
                  triton.Config({"BM": 32, "BN": 64, "BK": 64}, num_warps=4),
                  triton.Config({"BM": 64, "BN": 32, "BK": 32}, num_warps=2)],
                 key=["M", "N", "K"])
@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, K, BK):
        k = at + tl.arange(0, BK)
        u = tl.load(a + m[:, None] * K + k[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        v = tl.load(b + k[:, None] * N + n[None, :],
                    mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(u, v, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


class ModelNew(nn.Module):
    def forward(self, a, b):
        (M, K), N = a.shape, b.shape[1]
        c = torch.empty((M, N), dtype=a.dtype, device=a.device)
        grid = lambda m: (triton.cdiv(M, m["BM"]), triton.cdiv(N, m["BN"]))
        matmul[grid](a, b, c, M, N, K)
        return c
