# SPDX-License-Identifier: MIT
# hack: 13
# task: relu
# expect: wrong
# stopped by: ring: a graph that does not read the input is wrong on the next
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """A graph of its first forward, with that one's input."""

    def __init__(self):
        super().__init__()
        self.graph = None

    def forward(self, x):
        if self.graph is None:
            torch.relu(x)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.y = torch.relu(x)
        self.graph.replay()
        return self.y
