# Another revision than HEAD.
. "$SRC/tests/cli/km-harvest/repos.bash"
repo r
commit r LICENSE "$MIT" m.py 'from torch import nn\nclass Old(nn.Module): pass\n'
git -C r tag -a -m t v1 main
DATE=1600000000 commit r m.py 'from torch import nn\nclass New(nn.Module): pass\n'
for rev in main v1 main~1; do
    km-harvest --json --rev $rev r | show '.name, .commit' | grep module
done
km-harvest --json --rev nowhere r 2>&1 | show '.note' 2>/dev/null || :
km-harvest --json --rev nowhere r 2>/dev/null | show '.note'
