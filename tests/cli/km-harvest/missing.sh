# Missing objects cost the files that they hold and no more.
. "$SRC/tests/cli/km-harvest/repos.bash"
m='from torch import nn\nclass M(nn.Module): pass\n'
repo r
commit r LICENSE "$MIT" a.py "$m" b.py "${m}x = 1\n" d/c.py "${m}x = 2\n" \
    d/e.py "import f\n${m}x = 3\n" f.py 'x = 4\n'
drop() {
    local oid
    oid=$(git -C r rev-parse "$1")
    rm -f "r/.git/objects/${oid:0:2}/${oid:2}"
}
note() { jq -r 'select(.note) | .note' | sed -E 's/[0-9a-f]{40}/OID/g'; }
for object in main:a.py main:f.py main:d main:LICENSE; do
    echo "== without $object"
    drop $object
    km-harvest --json r >out
    show '.path // .repo' <out
    note <out | sort | uniq -c
done
for object in 'main^{tree}' main; do
    echo "== without $object"
    drop "$object"
    km-harvest -q --json r >out 2>/dev/null
    show '.repo' <out
    note <out
done
