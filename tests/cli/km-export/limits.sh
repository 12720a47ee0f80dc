# Whatever a record is called, the manifest is JSON; what is too large, named
# wrongly or not there is one line.
set -euo pipefail
. "$SRC/tests/cli/km-export/steps.bash"
long=$(printf 'é%.0s' {1..31})
{
    km-cat --json steps.km | head -n 1
    printf '{"kind":"x%s","id":"1","state":"ok","why":["y%s%s"]}\n' "$long" \
        "$long" "$long"
    km-cat --json steps.km | sed 1d
} >odd.jsonl
km-export --tasks tasks.km -i odd.jsonl -q --out data
km-export --verify data
jq -c '[.input_records, .why] | map(to_entries[] | select(.key | contains("é")))
    | map(.key | length)' data/manifest.json
km-export --tasks tasks.km -i odd.jsonl -q --out data && echo again
# A disk that tells late that it is full leaves the old data set.
cp -r data before
for call in fsync:1 fsync:2 write:4; do
    LD_PRELOAD=$FAILIO KM_FAIL=$call km-export --tasks tasks.km -i steps.km \
        -q --out data 2>&1 || diff -r before data && echo untouched
done
km-export --tasks tasks.km -i steps.km --out '' 2>&1 || echo "$?"
km-export --tasks tasks.km -i steps.km --out none --templates none 2>&1 ||
    echo "$?"
ls none 2>/dev/null || echo none
