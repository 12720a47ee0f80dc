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
echo "== other ways to say it"
old=$(git -C r rev-parse "v1^{commit}")
for rev in "v1^{commit}" "v1^{}" @^ HEAD~ main^1 refs/heads/main~1 "$old" "${old:0:7}" main^0~1; do
    km-harvest --json --rev "$rev" r | show .commit | grep repo
done
for rev in main~2 main^2 "main@{1}" main:m.py "main^{tree}" "${old:0:3}" main~99999999999 '' '~' ; do
    km-harvest --json --rev "$rev" r 2>/dev/null | show .note
done
