# Cut anywhere, a stream is fatal and nothing half written has the name.
. "$SRC/tests/cli/km-trajectories/verdicts.bash"
both seed '' 'seed' 0 1.0
km-cat --bare stream -o whole.km
size=$(stat -c %s whole.km)
n=0
for ((at = 0; at < size; at += 29)); do
    head -c $at whole.km >cut.km
    rc=0
    km-trajectories select -i cut.km -o out.km 2>message || rc=$?
    [ $rc = 1 ] && [ ! -e out.km ] && [ ! -e out.km.part ] &&
        [ "$(wc -l <message)" -le 2 ] || echo "cut at $at: $rc"
    n=$((n + 1))
done
[ $n -gt 20 ] && echo 'all cuts are fatal'
km-trajectories select --json </dev/null || echo "$?"
echo '{"kind":"verdict","id":"1","state":"ok","why":[]}' |
    km-trajectories select --bare --json | jq -c '[.kind, .state, .why]'
# A full disk is fatal too.
for call in write:1 write:2 write:3 write:99 fsync:1 rename:1; do
    LD_PRELOAD=$FAILIO KM_FAIL=$call km-trajectories select -i whole.km \
        -o full.km
    echo "$call $?"
done
ls full.km* 2>/dev/null
