# SPDX-License-Identifier: MIT
# hack: 12
# task: relu
# expect: wrong finding:overrides
# stopped by: ring: results are read as plain memory, whatever their class
#   says
import torch
import torch.nn as nn


class Late(torch.Tensor):
    """Computes when it is copied, and leaves the copy out."""

    x = None

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.Tensor.copy_:
            with torch._C.DisableTorchFunctionSubclass():
                return torch.clamp(Late.x, min=0, out=args[0])
        return super().__torch_function__(func, types, args, kwargs)


class ModelNew(nn.Module):
    def forward(self, x):
        Late.x = x
        return torch.empty_like(x).as_subclass(Late)
