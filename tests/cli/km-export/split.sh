# Problems go to one split whole, near duplicates with them.
set -euo pipefail
. "$SRC/tests/cli/km-trajectories/verdicts.bash"
for i in {1..40}; do
    task=$(printf '%032x' "$i")
    run=run$i
    both seed '' "seed $i" 0 1.0
    both next seed "next $i" 1 2.0
    jq -nc --arg id "$task" --arg cluster "c$((i / 2))" '{kind: "task",
        id: $id, state: "ok", why: [], name: "T", entry_kind: "module",
        source: "s", inputs: [], init: [], outputs: [], dtype: "fp32",
        verified: true, cluster: $cluster}' >>tasks
done
km-cat --bare tasks -o tasks.km
km-trajectories select --bare -i stream -o steps.km
km-export --tasks tasks.km -i steps.km --out data --valid-share 0.3 --jsonl -q
ls data
split() {
    jq -r --arg split "$2" 'select(.split == $split) | .task_id' "data/$1" |
        sort -u
}
for kind in sft rl_prompt grpo; do
    split $kind-00000.jsonl train >train
    split $kind-valid-00000.jsonl valid >valid
    wc -l <train
    wc -l <valid
    comm -12 train valid
done
jq -c '.records' data/manifest.json
# Without a share all is for training; index counts within the split.
jq -c '.extra_info.index' data/rl_prompt-valid-00000.jsonl | head -n 3
