import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        raise RuntimeError("not today")
