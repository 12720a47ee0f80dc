# URLs and bundles are cloned into the cache, and only when there is need.
. "$SRC/tests/cli/km-harvest/repos.bash"
clones() { find "$KM_CACHE/clones" -maxdepth 1 -printf '%f\n' | sed 's/.*\./*./' | sort | uniq -c; }
stamp() { find "$KM_CACHE/clones" -name HEAD -printf '%T@ ' | sha256sum; }
repo r
commit r LICENSE "$MIT" m.py 'from torch import nn\nclass Old(nn.Module): pass\n'
commit r m.py 'from torch import nn\nclass M(nn.Module): pass\n'
git -C r tag v0 main~1
git -C r bundle create -q ../x.bundle main v0 2>/dev/null
echo 'exit 1' >evil && chmod +x evil
mkdir -p hooks home && cp evil hooks/post-checkout && cp evil hooks/reference-transaction
git config --file home/.gitconfig core.hooksPath "$PWD/hooks"
git config --file home/.gitconfig protocol.allow never
# The hooks and the ban would stop any git that reads the configuration.
harvest() { HOME=$PWD/home km-harvest "$@"; }
url=file://$PWD/r
harvest --json "$url" x.bundle >one
! grep -q harvest.sandbox one || { echo 'no Landlock here'; exit 77; }
show '.name // .repo' <one
clones
before=$(stamp)
harvest --json "$url" x.bundle >two && cmp one two && echo same records
[ "$before" = "$(stamp)" ] && echo nothing was cloned again
echo "== one commit deep; whole under --rev"
for d in "$KM_CACHE"/clones/*.git; do git -C "$d" rev-list --count --all; done | sort -n
harvest --json --rev v0 "$url" x.bundle | show '.name // .repo'
echo "== something new"
commit r m.py 'from torch import nn\nclass New(nn.Module): pass\n'
harvest --json --no-fetch "$url" | show '.name // .repo'
harvest --json "$url" | show '.name // .repo'
git -C r bundle create -q ../x.bundle main 2>/dev/null
harvest --json x.bundle | show '.name // .repo'
echo "== a killed run left half a clone, and its lock"
rm -rf "$KM_CACHE"/clones/*.git
for lock in "$KM_CACHE"/clones/*.lock; do
    mkdir -p "${lock%.lock}.part/clone.git/objects"
    echo 'ref: refs/heads/main' >"${lock%.lock}.part/clone.git/HEAD"
done
harvest --json --no-fetch "$url" x.bundle | show '.name // .repo'
echo "== another run holds the lock"
lock_sed='s#clones/[0-9a-f]{32}.lock#LOCK#'
for lock in "$KM_CACHE"/clones/*.lock; do
    (flock 9 && touch held && until [ -e go ]; do sleep 0.05; done) 9>"$lock" &
    until [ -e held ]; do sleep 0.05; done
    rm held
done
harvest --json --no-fetch --fetch-seconds 1 "$url" r 2>err |
    sed -E "$lock_sed" | show '.note // .name // .repo'
sed -E "s#$PWD#DIR#; $lock_sed" err
echo "== and lets it go in time"
(sleep 0.5 && touch go) &
harvest --json --no-fetch --fetch-seconds 100 "$url" x.bundle | show '.name // .repo'
wait
echo "== no source; each costs one record"
head -c 2000 x.bundle | head -c -60 >cut.bundle
mkdir empty
echo 'no bundle' >text.bundle
harvest --json "file://$PWD/empty" cut.bundle text.bundle "$url" \
    http://example.invalid/a/b 'ext::sh -c true' gone.bundle \
    -- '-u@h:x' 2>err | show '.note // .name // .repo'
sed "s#$PWD#DIR#" err
clones
