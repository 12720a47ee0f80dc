set -euo pipefail
. "$SRC/tests/cli/km-trajectories/verdicts.bash"
both seed '' 'seed' 0 1.0 '.contract.ok = false'
both one seed '1' 1 2.0 '.pass.strict = false'
both two one '2' 2 2.06
both three two '3' 3 3.0
both four three '4' 4 4.0
both five four '5' 5 9.0
both five four '5' 5 9.0
run=r2
both seed '' 'seed' 0 1.5 . '.flags = ["seed"]'
both six seed '6' 1 6.0
verdict six 2.0 '.device_class = "cuda:sm_90"'

kept() {
    echo "-- $*"
    km-trajectories select --bare --json -i stream "$@" |
        jq -r 'select(.kind == "step") | select(.state != "rejected") |
            [.mode, .run, .child_program, .state, .why[],
             (.flags | join(","))] | join(" ")'
}
kept
kept --device cpu
kept --mode sft --profile kbv --device cpu
kept --mode rl --ignore-contract --profile kernelbench --device cpu
kept --mode rl --ignore-contract --profile kbv --min-gain 0.4 --device cpu
kept --mode rl --ignore-contract --profile kbv --top-k 1 --device cpu
kept --mode sft --per-task 2 --device cpu
kept --mode sft --keep-seeds --device cpu
echo '{"kind":"task","id":"ffffffffffffffffffffffffffffffff","state":"ok","why":[]}' >tasks
km-cat --bare tasks -o tasks.km
kept --mode sft --tasks tasks.km --device cpu
