# Every kind of file that can go wrong costs one record; the rest is read.
. "$SRC/tests/cli/km-harvest/repos.bash"
m='from torch import nn\nclass M(nn.Module): pass\n'
repo r
commit r LICENSE "$MIT" \
    bom.py "\xef\xbb\xbf$m" \
    crlf.py 'from torch import nn\r\nclass M(nn.Module):\r\n    pass\r\n' \
    cr.py 'from torch import nn\rclass M(nn.Module):\r    pass\r' \
    latin1.py "# coding: latin-1\n# \xe9\n$m" \
    gbk.py "# coding: gbk\nx = '\x95\\\\'\n$m" \
    bytes.py "# \xe9\n$m" \
    coding.py "# coding: klingon\n$m" \
    lfs.py 'version https://git-lfs.github.com/spec/v1\noid sha256:0\n' \
    nul.py "$m\x00" \
    python2.py "${m}class P(nn.Module):\n    def f(self):\n        print 1\n" \
    syntax.py "${m}class S(nn.Module):\n    def f(self):\n        x = = 1\n" \
    empty.py '' \
    twice.py "${m}class M(nn.Module): x = 1\n" \
    site/venv/lib/other.py "$m" \
    'a b/sp ace.py' "$m"
python3 - <<'END'
import os
deep = lambda n: "x = " + "(" * n + ")" * n + "\n"
m = "from torch import nn\nclass M(nn.Module): pass\n"
files = {"deep.py": deep(10000) + m,
         "lambda.py": "x = " + "lambda: " * 10000 + "0\n" + m,
         "indent.py": "".join(" " * i + "if x:\n" for i in range(2000)),
         "huge.py": "x = 1\n" * 200000 + m,
         "tokens.py": "x = [" + "1," * 70000 + "]\n" + m}
for name, text in files.items():
    with open(name, "w") as f:
        f.write(text)
END
for f in deep lambda indent huge tokens; do
    oid=$(git -C r hash-object -w --stdin <$f.py)
    echo "M 100644 $oid $f.py"
done >entries
oid=$(printf 'bom.py' | git -C r hash-object -w --stdin)
{
    echo "M 120000 $oid link.py"
    echo "M 160000 1111111111111111111111111111111111111111 module.py"
    echo "M 100644 $(git -C r rev-parse main:bom.py) \"caf\\351.py\""
    echo "M 100644 $(git -C r rev-parse main:bom.py) \"new\\nline.py\""
} >>entries
{
    printf 'commit refs/heads/main\ncommitter t <t@e> 1577836800 +0000\ndata 0\n'
    echo "from $(git -C r rev-parse main)"
    cat entries
} | git -C r fast-import --quiet --force
km-harvest --json r >out
jq -r 'select(.kind == "file" and .state != "ok") |
    [.path, .state, .why[0], .note] | map(@json) | join(" ")' out
jq -r 'select(.kind == "module") | [.path, .name, .line, .end_line, .state] |
    map(@json) | join(" ")' out
jq -c 'select(.kind == "file" and (.path | test("^(cr|latin1|gbk).py"))) |
    .source' out
jq -c 'select(.kind == "repo") | .counts' out
km-harvest r | km-cat --verify
