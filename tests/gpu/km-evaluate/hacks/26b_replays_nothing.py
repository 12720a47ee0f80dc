# SPDX-License-Identifier: MIT
# hack: 26
# task: relu
# expect: ok
# ratio: at most 1
# stopped by: harmless: a replay is compared before any time counts; as it is
#   wrong, both sides are called
import gc

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        for o in gc.get_objects():
            if type(o).__name__ == "Cuda":
                o.replay = lambda graph: None

    def forward(self, x):
        return torch.relu(x)
