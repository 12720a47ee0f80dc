# A list is read line by line; what is wrong with one costs one record.
. "$SRC/tests/cli/km-harvest/repos.bash"
repo r
commit r LICENSE "$MIT" m.py 'from torch import nn\nclass M(nn.Module): pass\n'
{
    echo '# sources'
    echo 'r name/one'
    echo 'r too many words'
    printf 'r \xff\n'
    printf 'r\0r name\n'
    head -c 5000 /dev/zero | tr '\0' x
    echo
    echo
    echo 'nowhere name/two'
    printf ' r\tname/three\r\nr'
} >list
km-harvest --json --list list | show '.name // .repo, .note'
km-harvest --json --list - <list 2>/dev/null | show .repo | sha256sum
km-harvest --json --list list 2>/dev/null | show .repo | sha256sum
for i in {1..3000}; do echo "none/$i"; done |
    km-harvest --list - 2>/dev/null | km-cat --count
echo '# nothing' | km-harvest --list - || echo "exit $?"
km-harvest --list . || echo "exit $?"
