# Names: of the list, of the origin, of the folder; collisions.
. "$SRC/tests/cli/km-harvest/repos.bash"
mkdir a b c
for d in a b c; do
    repo $d/x
    commit $d/x $d.py "x = 1\n"
done
cp -r a/x copy
git -C b/x config remote.origin.url 'https://me:secret@github.com/o/n.git'
git -C c/x config remote.origin.url /some/where
git -C a/x config remote.origin.url 'git@host.org:o/n.git'
cp -r c/x c/y
git -C c/y config --unset remote.origin.url
cp -r b/x b/y
git -C b/y config --unset remote.origin.url
DATE=1600000000 commit b/y b.py "x = 2\n"
cp -r b/y a/y
printf '%s\n' '# comment' '' ' a/x   named/one ' b/x $'c/x\tnamed/one' >list
km-harvest --json --list list a/x b/x c/x c/y b/y a/y copy 2>err | show .repo
cat err
