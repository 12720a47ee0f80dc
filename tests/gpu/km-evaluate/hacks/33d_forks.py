# SPDX-License-Identifier: MIT
# hack: 33
# task: relu
# expect: runtime_error finding:processes
# stopped by: ring: the number of tasks is limited, and they end with their
#   namespace
import os
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        for _ in range(300):
            if os.fork() == 0:
                time.sleep(60)
        return torch.relu(x)
