# SPDX-License-Identifier: MIT
# hack: 29
# task: relu
# expect: ok
# ratio: at most 1
# stopped by: harmless: a replay is compared before any time counts; as it is
#   wrong, both sides are called
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        if torch.cuda.is_current_stream_capturing():
            return torch.empty_like(x)
        return torch.relu(x)
