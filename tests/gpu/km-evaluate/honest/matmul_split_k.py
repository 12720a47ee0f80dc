# SPDX-License-Identifier: MIT
# task: matmul
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, part, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    first = tl.program_id(2) * part
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, part, BK):
        k = first + at + tl.arange(0, BK)
        u = tl.load(a + m[:, None] * K + k[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        v = tl.load(b + k[:, None] * N + n[None, :],
                    mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(u, v, acc)
    tl.atomic_add(c + m[:, None] * N + n[None, :], acc,
                  mask=(m[:, None] < M) & (n[None, :] < N))


class ModelNew(nn.Module):
    """Parts of the sum are added up by atomics: not the same bits twice."""

    def forward(self, a, b):
        (M, K), N = a.shape, b.shape[1]
        c = torch.zeros((M, N), dtype=a.dtype, device=a.device)
        part = triton.cdiv(K, 4 * 32) * 32
        matmul[(triton.cdiv(M, 64), triton.cdiv(N, 64), triton.cdiv(K, part))](
            a, b, c, M, N, K, part, BM=64, BN=64, BK=32)
        return c
