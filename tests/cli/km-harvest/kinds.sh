# Bare or not, its .git folder, a linked worktree, a detached HEAD, a HEAD
# without commit, tags alone: all are read.
. "$SRC/tests/cli/km-harvest/repos.bash"
file=(m.py 'from torch import nn\nclass M(nn.Module): pass\n' LICENSE "$MIT")
repo work
commit work "${file[@]}"
git -C work worktree add -q --detach ../linked main
git clone -q --bare work bare.git
git -C bare.git remote remove origin
repo detached
commit detached "${file[@]}"
git -C detached update-ref --no-deref HEAD refs/heads/main
git -C detached update-ref -d refs/heads/main
repo unborn
commit unborn "${file[@]}"
git -C unborn branch -q -m main old
DATE=1600000000 commit unborn "${file[@]}"
git -C unborn branch -q -m main newer
git -C unborn symbolic-ref HEAD refs/heads/none
repo tags --bare
commit tags "${file[@]}"
git -C tags tag v1 main
git -C tags update-ref -d refs/heads/main
repo config
commit config "${file[@]}"
git -C config config extensions.worktreeConfig true
git -C config config core.repositoryformatversion 1
rm -f bare.git/config
for r in work work/.git linked bare.git detached unborn tags config; do
    echo "== $r"
    km-harvest --json $r | show '.name // .commit'
done
