# SPDX-License-Identifier: MIT
# eval() of a text of settings becomes a function that knows values only; where
# names may be meant or asked for it stays refused.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

cases "" <<'END' | records r >in.jsonl
= Plain
class Plain(nn.Module):
    def __init__(self, layers="[(512, 10, 5)] + [(512, 3, 2)] * 4", cfg=None):
        super().__init__()
        self.layers = eval(layers)
        self.more = eval(cfg["layers"]) + eval("(1, 2) * 2")
    def forward(self, x):
        return x
= Globals
: return eval(x, {})
= Keyword
: return eval(x, locals={})
= Named
: return eval("nn.Linear")
= Joined
: return eval("nn." + x)
= Format
: return eval("nn.{}".format(x))
= Field
: return eval(f"self.{x}")
= Called
: return eval(x)(1)
= Later
: y = eval(x)
: return y(1)
= Value
: return map(eval, x)
= Star
: return eval(*x)
END
clean --json <in.jsonl
echo "what it computes:"
km-clean --json <in.jsonl | python3 -c '
import json, sys
for line in sys.stdin:
    record = json.loads(line)
    if record["kind"] == "module" and record["state"] == "ok":
        source = record["source"]
        exec(source[source.index("def plain_eval"):source.index("class Plain")])
for text in (
    "[(512, 10, 3)] + [(512, 3, 2)] * 4", " -1.5 // 2", "2 ** 10 - 7 / 2", "2 ** -1",
    "{\"a\": [None, True], 1: ()}", "3 * \"ab\" + \"c\"", "(1,) * -1", "1.5 ** 3",
):
    value = plain_eval(text)
    assert value == eval(text) and type(value) is type(eval(text)), text
    print(repr(value))
for text in (
    "nn.Linear", "x", "f(1)", "[0][0]", "[i for i in ()]", "lambda: 0", "...", "f\"{1}\"",
    "{**{}}", "9 ** 9 ** 9", "[0] * 10 ** 9", "\"a\" * 2000000", "not 1", "1 if 1 else 2", "1 +",
    "__import__(\"os\")", "{1, 2}", "[1] * [2]", b"1", 1,
):
    try:
        print("no error:", text, plain_eval(text))
    except Exception as e:
        print(type(e).__name__, text)
'
