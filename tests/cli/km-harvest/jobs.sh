# The same bytes whatever the number of workers, and the second time.
. "$SRC/tests/cli/km-harvest/repos.bash"
for i in 1 2 3 4 5 6 7; do
    repo r$i
    commit r$i LICENSE "$MIT" m.py "from torch import nn
class M$i(nn.Module): pass\n" broken.py '\x00'
done
rm -rf r4/.git/objects/*
mkdir r8
km-harvest -q -j 1 -o one r? 2>/dev/null
km-harvest -q -j 5 -o five r? 2>/dev/null
km-harvest -q -j 5 r? 2>/dev/null >again
cmp one five
cmp one again
km-cat --count one
