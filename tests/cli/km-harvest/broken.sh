# What is no repository, or an empty one, is one record and one line.
. "$SRC/tests/cli/km-harvest/repos.bash"
mkdir folder
echo text >file
repo empty
repo good
commit good m.py 'from torch import nn\nclass M(nn.Module): pass\n' LICENSE "$MIT"
repo lost
commit lost m.py 'from torch import nn\nclass M(nn.Module): pass\n'
rm -rf lost/.git/objects/*
for r in folder file absent empty lost; do
    km-harvest --json $r >out 2>err
    echo "$r: exit $?, $(show '.note' <out)"
    cat err
done
# The others are not harmed; --strict tells by its status.
km-harvest --json folder good lost 2>/dev/null | show '.name // .repo'
km-harvest --strict -q -o out.km good empty 2>/dev/null
echo "rejected only: $?"
rc=0
km-harvest --strict -q -o out.km good folder || rc=$?
echo "one failed: $rc"
km-cat --verify out.km
