# A small repository: all records of it, in order.
. "$SRC/tests/cli/km-harvest/repos.bash"
repo r
commit r LICENSE "$MIT" \
    README.md '# nothing' \
    setup.py 'from setuptools import setup\nsetup(name="pkg")\n' \
    pkg/__init__.py 'from .net import Net\n' \
    pkg/net.py 'from torch import nn\nfrom .base import Base, act as a
@reg("n")\nclass Net(Base):\n    class Part(nn.Linear):\n        pass
    def forward(self, x):\n        return a(x)\n' \
    pkg/base.py 'import torch.nn as nn\nfrom .util import *
class Base(nn.Module):\n    pass\ndef act(x):\n    return x\n' \
    pkg/util.py 'K = 1\n' \
    pkg/unrelated.py 'import torch\nclass Data(torch.utils.data.Dataset): pass\n'
km-harvest --json r
km-harvest r | km-cat --verify
