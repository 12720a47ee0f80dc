# SPDX-License-Identifier: MIT
# task: exp_into
# expect: ok
import torch
import torch.nn as nn


def ModelNew(x, out):
    torch.exp(x.abs().neg_(), out=out)
