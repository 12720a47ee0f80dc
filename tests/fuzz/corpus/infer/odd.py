from torch import nn
class M(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.x = nn.Linear(a * b - 7, a // b) if a % b else nn.Conv2d(a, b, (3, 5), stride=b, groups=a)
    def forward(self, x, y):
        return self.x(x).view(x.size(0), -1, y.shape[1] ** 2) @ y
