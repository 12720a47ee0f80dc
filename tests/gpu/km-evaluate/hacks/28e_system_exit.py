# SPDX-License-Identifier: MIT
# hack: 28
# task: relu
# expect: runtime_error
# stopped by: ring: an exception of any class is one
import atexit
import sys

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        atexit.register(lambda: print("correct: True"))
        sys.exit(0)
