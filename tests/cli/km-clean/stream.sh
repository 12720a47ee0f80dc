# SPDX-License-Identifier: MIT
# What passes through, what is held, and the same bytes for any --jobs.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

for r in a b c d; do
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
other='{"kind":"file","state":"rejected","why":["harvest.encoding"],"repo":"b","commit":"0","path":"x.py","blob":"0"}'
task='{"kind":"whatever","state":"ok","why":[],"x":1}'
{
    grep -v '"kind":"end"' a.jsonl
    echo "$task"
    for r in b c d; do
        grep -vE '"kind":"(header|end)"' $r.jsonl | grep -v '"repo":"c".*\[\],"repo"'
        if [ $r = b ]; then echo "$other"; fi
    done
    # c's closing record is gone: another repository ends it as well
    echo '{"kind":"end","counts":{}}'
} | grep -v '"kind":"repo","state":"ok","why":\[\],"repo":"c"' >in.jsonl
summary() {
    sed -E 's/.*"kind":"([a-z]*)".*"state":"([a-z]*)","why":(\[[^]]*\])(.*)/\1 \2 \3 \4/' |
        sed -E 's/ ,.*"repo":"([a-z])".*"name":"([A-Za-z]*)".*/ \1 \2/; s/ ,.*"repo":"([a-z])".*/ \1/'
}
km-clean --json -j1 <in.jsonl >one.jsonl
grep -v '"kind":"header"' one.jsonl | grep -v '"kind":"end"' | summary
for j in 2 3; do
    km-clean --json -j$j <in.jsonl | cmp - one.jsonl
done
km-clean -j2 <in.jsonl >out.km
km-clean -j1 <in.jsonl | cmp - out.km
km-cat --count out.km
echo "twice:"
km-clean -j2 <out.km >again.km && km-cat --count again.km
echo "cut:"
head -c 500 out.km | km-clean >/dev/null || echo "exit $?"
echo "wrong type:"
zero=$(printf %040d 0)
{
    echo '{"kind":"header","v":1,"program":"t","version":"0","options":{},"chain":[]}'
    echo '{"kind":"file","state":"ok","why":[],"repo":"r","commit":"'"$zero"'","path":3,"blob":"'"$zero"'","source":"x"}'
    echo '{"kind":"end","counts":{}}'
} | km-clean --json >wrong.jsonl
km-cat --verify wrong.jsonl | sed 's/.*: OK/OK/'
sed -nE 's/.*"note":"([^"]*)".*/\1/p' wrong.jsonl
