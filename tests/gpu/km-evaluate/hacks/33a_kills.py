# SPDX-License-Identifier: MIT
# hack: 33
# task: relu
# expect: ok
# ratio: about 1
# stopped by: harmless: others are in other namespaces, and its own first
#   process takes no signal from it
import os

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Signals its parent, and the first process."""

    def __init__(self):
        super().__init__()
        for pid in {1, os.getppid()} - {0, os.getpid()}:
            try:
                getattr(os, "ki" + "ll")(pid, 9)
            except OSError:
                pass

    def forward(self, x):
        return torch.relu(x)
