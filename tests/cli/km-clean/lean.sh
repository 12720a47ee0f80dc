# SPDX-License-Identifier: MIT
# A source that would be too large goes without the methods that nothing asks
# for, and without what only those need.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

big() { printf "    return '%s'\n" "$(head -c 200000 /dev/zero | tr '\0' "$1")"; }
{
    cat <<'END'
=== m.py
from torch import nn

END
    for name in one two three four; do
        echo "def $name():"
        big x
        echo
    done
    cat <<'END'
def register(f):
    return f

class Mixin:
    def save(self):
        return one(), self.save_more()
    def save_more(self):
        return two(), self.save()
    @property
    def loaded(self):
        return three()
    @register
    def registered(self):
        return 2
    def asked_by_name(self):
        return self.asked_by_that()
    def asked_by_that(self):
        return 1
    def asked_by_text(self):
        return len(four())
    def extra_repr(self):
        return ''

class Conv(nn.Conv2d):
    pass

class Padded(Conv):
    def _conv_forward(self, x, weight, bias):
        return super()._conv_forward(x, weight, bias) + 1

class M(Mixin, nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = Padded(1, 1, 1)
    def forward(self, x):
        if hasattr(self, 'asked_by_text'):
            return x * self.asked_by_name()
        return self.conv(x)

class Whole(nn.Module):
    def forward(self, x):
        return x * len(one() + two() + three())

=== modules
m.py M
m.py Whole
END
} | records r >in
km-clean --json -q <in | jq -r 'select(.kind == "module")
    | .name, .state, .why, (.cuts // [] | map([.kind, .name, .why]) | tojson),
      (.source // "" | gsub("x{9,}"; "x"))'
