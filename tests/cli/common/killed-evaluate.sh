# timeout: 600
# evaluate killed at any moment takes finished verdicts from its store: the end
# is what a run served from the store alone writes.
. "$SRC/tests/cli/common/killed.bash"
[ -n "${KM_PYTHON:-}" ] || { echo "no interpreter with torch" && exit 77; }
sample
km-harvest -q sample.git | km-clean -q | km-cat --where name=PlainReLU -o c.km -
weak=''
km-testgen -q -i c.km -o tasks.km 2>err || {
    grep -q sandbox err && weak=--allow-weak-sandbox
    km-testgen -q $weak -i c.km -o tasks.km
}
km-trajectories import -q "$SRC"/pipelines/sample/runs/relu-c --tasks tasks.km |
    km-cat --head 2 -k revision -o few.km -
evaluate() { km-evaluate -q --tasks tasks.km --budget 1 $weak -i few.km "$@"; }
want=none again=0
killed 3000 km-evaluate -q --tasks tasks.km --budget 1 $weak -i few.km
evaluate -o first.km
start=$EPOCHREALTIME
evaluate -o second.km
cmp first.km second.km
awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { if (b - a > 2) print b - a " s" }'
km-cat --json first.km | jq -r 'select(.kind == "verdict") | [.state, .outcome] | @tsv'
