# SPDX-License-Identifier: MIT
# Comments, docstrings, secrets and addresses.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

cat >bundle <<'END'
=== m.py
"""Module by someone@corp.example"""
# ghp_abcdefghijklmnopqrstuvwxyz0123456789
from torch import nn
class Net(nn.Module):  # trailing
    """Does a thing."""

    # a comment

    # another
    x = 1  # AKIAIOSFODNN7EXAMPLE

    def forward(self, x):
        """mail me@home.example.org, see http://wiki.corp/x"""
        # only this
        s = "# no comment"  # a comment
        t = f"{s}"
        """stray"""
        return (x,  # one
                # two
                s)

    def empty(self):
        """Nothing but words."""

    def short(self): "one line"

class Key(nn.Module):
    def forward(self, x):
        return "AKIAIOSFODNN7EXAMPLE"

class Split(nn.Module):
    def forward(self, x):
        return ("ghp_"  # of two
                "abcdefghijklmnopqrstuvwxyz0123456789")

class Mail(nn.Module):
    def forward(self, x):
        return f"ask root@example.org"

class Product(nn.Module):
    def forward(self, x):
        return x@self.weight.data + x @ self.b

class Inner(nn.Module):
    url = "https://10.0.0.12/model.bin"
    def forward(self, x):
        return x

class Aws(nn.Module):
    def forward(self, x, aws_secret_access_key="wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYab"):
        return x
class Home(nn.Module):
    root = "/home/jdoe/data"
    def forward(self, x):
        return x

class Address(nn.Module):
    def forward(self, x, host="192.168.1.20"):
        """See C:\\Users\\jdoe and 10.0.0.3."""
        return x

class Written(nn.Module):
    __author__ = "J. Doe"
    __email__ = "jdoe@example.org"
    def forward(self, x):
        """In /home/jdoe/notes."""
        return x + 2

class Only(nn.Module):
    __maintainer__ = "J. Doe"
=== n.py
from torch import nn
__author__ = "J. Doe"
class Unasked(nn.Module):
    def forward(self, x):
        return x
class Asked(nn.Module):
    def forward(self, x):
        return x, __author__
=== modules
m.py Net
m.py Key
m.py Split
m.py Mail
m.py Product
m.py Inner
m.py Aws
m.py Home
m.py Address
m.py Written
m.py Only
n.py Unasked
n.py Asked
END
records r <bundle >in.jsonl
clean --json <in.jsonl
echo "kept:"
clean --json --keep-docstrings <in.jsonl | sed -n '/^class [NW]/,/^##/p'
