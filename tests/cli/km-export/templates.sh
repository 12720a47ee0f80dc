set -euo pipefail
. "$SRC/tests/cli/km-export/steps.bash"
mkdir mine
for name in first step; do
    for language in torch c; do
        printf 'SYS %s\n---\n<%s> {{reference}} | {{parent}}\n' $language \
            $name >mine/${name}_$language.txt
    done
done
export_with() {
    km-export --tasks tasks.km -i steps.km -q --out data --jsonl \
        --prompts rendered --templates "$@" && jq -r '.template_id,
        (.prompt[] | .content), .completion[0].content' data/sft-00000.jsonl
}
export_with mine
rm mine/step_torch.txt
export_with mine || echo "$?"
echo 'no line' >mine/step_torch.txt
export_with mine || echo "$?"
printf 'S\n---\n{{unknown}}\n' >mine/step_torch.txt
export_with mine || echo "$?"
