# SPDX-License-Identifier: MIT
# Verdicts come from the store byte for byte, for any layout of the same
# tokens, and need neither torch nor compiler then.
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
relu_task >tasks
{
    revision relu "$here/relu_clamp.py"
    revision relu "$here/relu_identity.py"
    revision relu "$here/relu.c"
} >revisions
judge() {
    km-evaluate --bare --json --budget 0.2 --tasks tasks --store store
}
judge <revisions >first
KM_PYTHON=/nonexistent judge <revisions >second
cmp first second && echo same
jq -c '.code |= "# another layout\n\n" + .' <revisions |
    KM_PYTHON=/nonexistent judge | jq -c 'select(.kind == "verdict")
        | del(.id, .revision)' >third || :
jq -c 'select(.kind == "verdict") | del(.id, .revision)' first >without
head -n 2 without | cmp - <(head -n 2 third) && echo same
# Another budget is another question.
KM_PYTHON=/nonexistent km-evaluate --bare --json --budget 0.3 --tasks tasks \
    --store store <revisions >out 2>err || echo "exit $?"
# Failures of the machine or the task are asked again.
task broken 'class Other: pass' "$x64" "$y64" >>tasks
revision broken "$here/relu_clamp.py" >broken
judge <broken | jq -r 'select(.kind == "verdict") | .outcome'
relu_task | jq -c '.id = "broken"' >>good
km-evaluate --bare --json --budget 0.2 --tasks good --store store <broken |
    jq -r 'select(.kind == "verdict") | .outcome'
# A damaged verdict is none: judged again, and whole in the store from then on.
head -n 1 revisions >one
revision relu "$here/relu.c" >>one
for value in "'text'" "x'81'" "x'9190'" "x'81a573746174651f'" \
    "x'82a57374617465a26f6ba76f7574636f6d65c3'"; do
    "$KM_PYTHON" - "$value" <<'P'
import sqlite3
import sys
with sqlite3.connect("store") as store:
    store.execute(f"UPDATE result SET value = {sys.argv[1]} "
                  "WHERE kind = 'verdict'")
P
    judge <one | jq -r 'select(.kind == "verdict") | .outcome' | paste -sd ' '
done
KM_PYTHON=/nonexistent judge <one >out && echo stored
