# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What every program must do alike. `filters` are those that read a stream;
# in.km holds records that all of them pass through.
set -euo pipefail
for i in 1 2 3 4 5 6; do
    jq -nc --arg i "$i" '{kind: "repo", id: ("0" * 31 + $i), state: "ok",
        why: [], repo: ("r" + $i), commit: "c"}'
done | km-cat --bare -o in.km -
km-cat --bare -o tasks.km - </dev/null
unset KM_PYTHON # nothing here gets as far as running a module
filters=(km-cat km-clean 'km-testgen -q' 'km-trajectories select'
    'km-evaluate --tasks tasks.km')

# status EXPECTED LINES COMMAND...: its exit status, and that it says at most
# LINES lines, the first of which starts with its name. Output goes to $to.
to=out
status() {
    local expected=$1 lines=$2 rc=0
    shift 2
    "$@" >"$to" 2>err || rc=$?
    if [ $rc != "$expected" ]; then
        echo "$*: exit $rc, expected $expected"
        cat err
    elif [ "$(wc -l <err)" -gt "$lines" ] ||
        { [ "$expected" != 0 ] && ! grep -q "^$1.*: " <(head -n 1 err); }; then
        echo "$*: says"
        cat err
    fi
}
