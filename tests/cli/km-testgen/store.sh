# timeout: 300
# The same bytes for any number of workers, and from the store, where nothing
# is run again; other kinds and rejected records pass in their place.
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
for name in First Second Third; do
    module $name <<PY
from torch import nn
class $name(nn.Module):
    def forward(self, x):
        return x.tanh() * 2
PY
    jq -nc --arg repo "$name" '{kind: "repo", id: ("0" * 32), state: "ok",
        why: [], repo: $repo, commit: "c"}' >>stream
    module Dropped '.state = "rejected" | .why = ["clean.unsafe"] |
        del(.source)' </dev/null
done
testgen
show
cp out first
testgen -j 2 --no-store
cmp out first
testgen -v
cmp out first
grep attempts err || echo 'nothing is run again'
sed -i 's/ First/ Fourth/; s/"First"/"Fourth"/g' stream
testgen -v
sed -nE 's/, [0-9.]+ s of CPU//; /attempts/p' err
