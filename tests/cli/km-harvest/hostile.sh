# Trees that no git writes: names that lead elsewhere, names twice. Each costs
# its file, and no two records have one id.
. "$SRC/tests/cli/km-harvest/repos.bash"
repo r --bare
blob() { printf '%b' "$1" | git -C r hash-object -w --stdin; }
# entry MODE NAME ID: one entry of a tree, raw
entry() { printf '%s %s\0' "$1" "$2"; printf '%b' "$(fold -w 2 <<<"$3" | sed 's/^/\\x/' | tr -d '\n')"; }
tree() { git -C r hash-object -t tree --literally -w --stdin; }
tip() { git -C r update-ref refs/heads/main "$(git -C r commit-tree -m x "$1")"; }
m=$(blob 'from torch import nn\nclass M(nn.Module): pass\n')
n=$(blob 'from torch import nn\nclass N(nn.Module): pass\n')
bad=$(entry 40000 '' "$(git -C r mktree </dev/null)" | tree)
inner=$({ entry 100644 m.py "$m"; entry 100644 .. "$m"; } | tree)
root=$({
    entry 40000 . "$inner"
    entry 40000 .. "$inner"
    entry 100644 ../up.py "$m"
    entry 100644 /etc/x.py "$m"
    entry 100644 a%2Fb.py "$m"
    entry 100644 a/b.py "$m"
    entry 40000 a "$inner"
    entry 40000 none "$bad"
    entry 100644 twice.py "$m"
    entry 100644 twice.py "$m"
    entry 100644 twice.py "$n"
} | tree)
tip "$root"
km-harvest --any-licence --json r >out
show '.path // .repo, .name // "", .note // ""' <out
jq -r 'select(.id) | .id' out | sort | uniq -d
km-cat --verify <out
echo "== references that cannot be read"
cp -r r refs
rm -rf refs/refs/heads/main
echo 'no references at all' >refs/packed-refs
km-harvest --json refs 2>/dev/null | show '.note // ""'
echo "== an object that unpacks to 65 MiB, named by --rev"
big=$({
    printf 'tree %s\n' "$root"
    printf '%s t <t@example.invalid> 1 +0000\n' author committer
    printf '\n'
    head -c $((65 << 20)) /dev/zero | tr '\0' x
} 2>/dev/null | git -C r hash-object -t commit -w --stdin)
git -C r update-ref refs/heads/big "$big"
for rev in big "$big" "${big:0:12}" big~1; do
    km-harvest --json --rev "$rev" r 2>/dev/null | show '.note // ""' | sed "s/$big/BIG/; s/${big:0:12}/BIG/"
done
