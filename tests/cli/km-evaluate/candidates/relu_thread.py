import threading

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Leaves its work to a thread."""

    def forward(self, x):
        y = torch.empty_like(x)
        t = threading.Thread(target=lambda: y.copy_(torch.relu(x)))
        t.start()
        t.join()
        return y
