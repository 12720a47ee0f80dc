# SPDX-License-Identifier: MIT
# task: two_matmuls
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Two streams beside the caller's, ordered by events."""

    def __init__(self):
        super().__init__()
        self.sides = []

    def forward(self, a, b, c):
        if not self.sides:
            self.sides = [torch.cuda.Stream() for _ in range(2)]
        main = torch.cuda.current_stream()
        y = torch.empty((2, a.shape[0], b.shape[1]), device=a.device)
        for side, w, out in zip(self.sides, (b, c), y):
            side.wait_event(main.record_event())
            with torch.cuda.stream(side):
                torch.mm(a, w, out=out)
            main.wait_event(side.record_event())
        return y.sum(0)
