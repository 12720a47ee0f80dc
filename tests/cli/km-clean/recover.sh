# SPDX-License-Identifier: MIT
# What a module can do without: methods that nobody names, blocks that run on
# a wish, decorators that register, calls that only report.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --json
=== m.py
import logging
import jinja2
import wandb
from fancy import fancy
from mmcv import MODELS
import torch
from torch import nn
from torch.hub import load_state_dict_from_url
logger = logging.getLogger(__name__)

def is_apex_available():
    import importlib
    return importlib.import_module("apex")

def deprecate(x):
    import inspect
    return inspect.stack()

def _load(url):
    return load_state_dict_from_url(url)

@MODELS.register_module()
class Net(nn.Module):
    @classmethod
    def from_pretrained(cls, path):
        return cls.load(torch.load(path))

    @classmethod
    def load(cls, x):
        return x

    def __init__(self, pretrained=False):
        super().__init__()
        logger.info("init")
        print("hello")
        deprecate("old")
        if pretrained:
            state = _load("https://x")
            self.load_state_dict(state)
        if is_apex_available():
            self.x = 1
        if pretrained: print(1)
        else: wandb.log(2)

    def forward(self, x):
        def quiet():
            """nothing"""
            print(x)
        print(x); y = x
        return y

class Uses(Net):
    def forward(self, x):
        return self.from_pretrained(x)

class Named(nn.Module):
    def __init__(self, draw=False):
        super().__init__()
        self.hparams = dict(draw=draw)
        try:
            fancy(draw)
        except:  # whatever it is
            self.table = None

    def draw(self):
        return wandb.Image(self)

    def on_end(self):
        self.draw()

    def forward(self, x):
        if self.hparams.draw:
            x = x + 1
        return x

class Asked(Named):
    draw_all = Named.on_end

    def draw(self):
        return wandb.Image(self)

    def forward(self, x):
        return getattr(self, "draw")()

class Script(nn.Module):
    @torch.jit.script
    def f(x):
        return x

    def forward(self, x):
        return self.f(x)
class Templated(nn.Module):
    def __init__(self):
        super().__init__()
        self.call = self.plain
        if not self.call.__name__.startswith("from_"):
            try:
                self.call = from_template("call")
            except Exception:
                self.kept = self.call

    def plain(self, x):
        return x * 2

    def forward(self, x):
        return self.call(x)

def from_template(name):
    loaded = __import__("tempfile").mkdtemp()
    return jinja2.Environment(name).load(loaded)
=== modules
m.py Net
m.py Uses
m.py Named
m.py Asked
m.py Script
m.py Templated
END
