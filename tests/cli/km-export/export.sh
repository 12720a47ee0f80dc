set -euo pipefail
. "$SRC/tests/cli/km-export/steps.bash"
km-export --tasks tasks.km --out data -i steps.km --jsonl -v
km-export --verify data
ls data
sed -E 's/"(raw_)?(bytes|sha256)":("[0-9a-f]+"|[0-9]+)/"\1\2":_/g' data/manifest.json
show() { echo "-- $1"; jq -Sc . "data/$1-00000.jsonl"; }
show sft
show rl_prompt
show grpo
# The shards are streams, and hold the same records as the JSON lines.
for kind in sft rl_prompt grpo; do
    km-cat --verify "data/$kind-00000.msgpack.zst"
    km-cat --json "data/$kind-00000.msgpack.zst" | sed '1d;$d' |
        cmp - "data/$kind-00000.jsonl"
done
# The same input gives the same bytes, into an old folder as into a new one.
cp -r data before
km-export --tasks tasks.km --out data -i steps.km --jsonl -q
km-export --tasks tasks.km --out new --jsonl -q <steps.km
diff -r before data && diff -r before new && echo same
rc=0
km-export --tasks tasks.km --out data -i steps.km --strict -q || rc=$?
echo "strict: $rc"
