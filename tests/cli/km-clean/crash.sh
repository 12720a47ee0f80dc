# SPDX-License-Identifier: MIT
# A worker that dies costs nothing but time: its repository is done again,
# module by module.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

for r in a b; do
    records $r <<END >$r.jsonl
=== m.py
from torch import nn
class N$r(nn.Module):
    def forward(self, x):
        return x + ord("$r")
class M$r(nn.Module):
    def forward(self, x):
        return $r
=== modules
m.py M$r
m.py N$r
END
done
sed -i '/"kind":"end"/d' a.jsonl
sed -i '/"kind":"header"/d' b.jsonl
cat a.jsonl b.jsonl | km-clean --json -j1 >want.jsonl

mkfifo in
km-clean --json -j1 -v <in >got.jsonl 2>err &
pid=$!
exec 3>in
cat a.jsonl >&3
worker=
for _ in $(seq 200); do
    read -r worker _ <"/proc/$pid/task/$pid/children" || :
    if [ -n "$worker" ] && grep -q '^State:.S' "/proc/$worker/status"; then
        break
    fi
    sleep 0.05
done
kill -9 "$worker"
cat b.jsonl >&3
exec 3>&-
wait $pid
cmp got.jsonl want.jsonl && echo "same bytes"
grep -c 'tried again' err
