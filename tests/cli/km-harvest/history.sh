# --all-history: every version of a file once, in the newest commit that has it.
. "$SRC/tests/cli/km-harvest/repos.bash"
at() { DATE=$((1577836800 + $1)) commit "${@:2}"; }
repo r
at 0 r LICENSE "$MIT" base.py 'from torch import nn\nclass Base(nn.Module): old = 1\n'
at 1 r pkg/m.py 'from base import Base\nclass M(Base): x = 1\n'
git -C r branch side
at 2 r pkg/m.py 'from base import Base\nclass M(Base): x = 2\n' README x
at 3 r base.py 'from torch import nn\nclass Base(nn.Module): new = 1\n'
at 4 r pkg/m.py 'from base import Base\nclass M(Base): x = 1\n' # as it was
at 5 r other.txt x util.py 'x = 1\n'
at 6 r util.py 'x = 2\n'
name() { show '.path // "-", .name // "-", (.commit | .[0:7])'; }
git -C r log --format=%h' '%at main
km-harvest --json --all-history r >out && name <out
km-harvest --json --all-history -j 4 r | cmp - out && echo same
jq -r 'select(.id) | .id' out | sort | uniq -d
echo "== a merge"
git -C r checkout -q side && git -C r reset -q --hard
DATE=1577836900 && GIT_COMMITTER_DATE="@$DATE +0" GIT_AUTHOR_DATE="@$DATE +0" git -C r merge -q -s ours -m x main
GIT_COMMITTER_DATE="@1577836901 +0" git -C r commit -q --allow-empty -m y
km-harvest --json --all-history --rev side r | name
echo "== shallow"
git clone -q --bare --depth 4 "file://$PWD/r" shallow --branch main 2>/dev/null
km-harvest --json --all-history shallow | name
echo "== a missing version, a missing folder"
cp -r r broken
lose() { local o; o=$(git -C r rev-parse "$1"); rm "broken/.git/objects/${o:0:2}/${o:2}"; }
lose main~4:pkg/m.py
lose main~3:base.py
km-harvest --json --all-history --rev main broken | name
lose main~4:pkg
km-harvest --json --all-history --rev main broken | show '.path // "-", .note // "-"' | grep failed
echo "== a clone has it all"
km-harvest --json --all-history --rev main "file://$PWD/r" | name | grep -c module
