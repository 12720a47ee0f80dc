# SPDX-License-Identifier: MIT
# hack: 15
# task: relu
# expect: ok
# ratio: at most 1
# stopped by: harmless: a replay is compared before any time counts; as it is
#   wrong, both sides are called
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Captures only every other forward."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if not torch.cuda.is_current_stream_capturing() or self.calls % 2:
            self.y = torch.relu(x)
        return self.y
