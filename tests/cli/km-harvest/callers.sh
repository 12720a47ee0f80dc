# Files that no module needs but that make one come along, marked; those that
# only define or name one don't. Of many for one class the shortest are taken.
. "$SRC/tests/cli/km-harvest/repos.bash"
module='from torch import nn\nclass Net(nn.Module):\n    pass\n'
repo r
files=()
for i in {10..30}; do
    files+=("many/f$i.py" "Net($i)\n$(printf '#%.0s' $(seq "$i"))\n")
done
commit r LICENSE "$MIT" net.py "$module" uses.py 'from net import Net\nNet(3)\n' \
    defines.py 'class Net():\n    pass\ndef Net(): pass\n' \
    names.py 'from net import Net\nx = [Net]\n' \
    other.py 'MyNet(3)\nNetwork(3)\n' 'a b.py' 'x = f(a.Net(1))\n' "${files[@]}"
km-harvest --json r | show '"\(.path) \(.caller)"' >all
grep -v many all
grep -c many all
grep many all | tail -1
# A repository without modules has none.
repo none
commit none LICENSE "$MIT" uses.py 'Net(3)\n'
km-harvest --json none | show .caller
