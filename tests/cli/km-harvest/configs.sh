# SPDX-License-Identifier: MIT
# Configurations that make a module come along, marked, as Python that does;
# what only looks like one, or cannot be read, costs nothing.
. "$SRC/tests/cli/km-harvest/repos.bash"
module='from torch import nn\nclass Net(nn.Module):\n    pass\n'
repo r
files=()
for i in {10..30}; do
    files+=("many/f$i.yaml" "a: !new:net.Net [$i]\n$(printf '#%.0s' $(seq "$i"))\n")
done
commit r LICENSE "$MIT" net.py "$module" uses.py 'from net import Net\nNet(3)\n' \
    new.yaml 'a: !new:net.Net\n' hydra.yml 'a:\n  _target_: net.Net\n' \
    bare.json '{"a": {"_target_" : "Net"}}\n' path.yml '- class_path: "net.Net"\n' \
    ldm.yaml "target: 'net.Net'\n" \
    named.yaml 'a: !name:net.Net\nNet: 3\nb: net.Net\ntarget: 80%\n' \
    longer.yaml 'a: !new:net.Network\nb: !new:net.MyNet\n' \
    bytes.yaml 'a: !new:net.Net \xff\n' venv/x.yaml 'a: !new:net.Net\n' \
    text.txt 'a: !new:net.Net\n' \
    large.yaml "a: !new:net.Net\n$(printf '#%.0s' {1..270000})\n" "${files[@]}"
km-harvest --json r | show '"\(.path) \(.caller)"' >all
grep -v many all
grep -c many all
grep many all | tail -1
km-harvest --json --jobs 1 r >one
km-harvest --json --jobs 2 r | cmp - one && echo "same for all --jobs"
# A repository without modules has none.
repo none
commit none LICENSE "$MIT" new.yaml 'a: !new:net.Net\n'
km-harvest --json none | show .caller
