# SPDX-License-Identifier: MIT
# input: x float32 [512, 1024] normal
# input: out float32 [512, 1024] normal
# more: {"entry_kind": "function", "mutates": [1]}
import torch
import torch.nn as nn


def Model(x, out):
    out.copy_(torch.exp(-x.abs()))
