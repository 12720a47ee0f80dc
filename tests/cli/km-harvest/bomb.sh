# A tree whose few objects describe a thousand million files.
. "$SRC/tests/cli/km-harvest/repos.bash"
repo r --bare
blob=$(echo 'import torch' | git -C r hash-object -w --stdin)
tree=$(for i in {0..9}; do printf '100644 blob %s\tf%s.py\n' "$blob" "$i"; done |
    git -C r mktree)
for _ in {1..8}; do
    tree=$(for i in {0..9}; do printf '040000 tree %s\td%s\n' "$tree" "$i"; done |
        git -C r mktree)
done
git -C r update-ref refs/heads/main "$(git -C r commit-tree -m x "$tree")"
km-harvest --json r 2>/dev/null | show .note
# And one that is deep.
tree=$(printf '100644 blob %s\tf.py\n' "$blob" | git -C r mktree)
for _ in {1..150}; do
    tree=$(printf '040000 tree %s\td\n' "$tree" | git -C r mktree)
done
git -C r update-ref refs/heads/main "$(git -C r commit-tree -m x "$tree")"
km-harvest --json r 2>/dev/null | show .note
# Kilobytes that unpack to a commit of 65 MiB, as HEAD and as the only branch.
commit=$({
    printf 'tree %s\n' "$(git -C r rev-parse "HEAD^{tree}")"
    printf '%s t <t@example.invalid> 1 +0000\n' author committer
    printf '\n'
    head -c $((65 << 20)) /dev/zero | tr '\0' x
} | git -C r hash-object -t commit -w --stdin)
git -C r update-ref refs/heads/main "$commit"
km-harvest --json r 2>/dev/null | show .note
git -C r update-ref -d refs/heads/main
git -C r update-ref refs/heads/other "$commit"
km-harvest --json r 2>/dev/null | show .note
# Twenty thousand files of one name that import it: four hundred million ways.
git init -q --bare same
{
    printf 'blob\nmark :1\ndata <<X\nfrom torch import nn\nimport a\n'
    printf 'class M(nn.Module): pass\nX\n\ncommit refs/heads/main\n'
    printf 'committer t <t@example.invalid> 1 +0000\ndata 0\n'
    for i in $(seq 20000); do echo "M 100644 :1 d$i/a.py"; done
} | git -C same fast-import --quiet
python3 - <<'END'
import resource
import subprocess
subprocess.run(["km-harvest", "-q", "--any-licence", "same", "-o", "same.km"])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print("under 2 GB" if peak < 2 << 20 else "%d kB" % peak)
END
km-cat --count same.km
