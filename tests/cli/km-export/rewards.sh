set -euo pipefail
. "$SRC/tests/cli/km-export/steps.bash"
rewards() {
    rm -rf data
    echo "-- $*"
    km-export --tasks tasks.km --out data -i steps.km --jsonl -q "$@"
    jq -r '. as $g | .samples[] | [$g.reward, $g.parent_is_reference, .index,
        .outcome, .reward, (.advantage // "-" | tostring | .[:7]),
        (.rewards | to_entries | map("\(.value)"[:7]) | join("/")),
        .speedup_parent, .completion_kind] | map(. // "-" | tostring) |
        join(" ")' data/grpo-00000.jsonl
    jq -r '[.stats.n_valid, .degenerate, .template_id[:10]] | join(" ")' \
        data/grpo-00000.jsonl
}
rewards
rewards --reward clipped --reward-clip 1.5 --ignore-contract
rewards --reward log --reward-floor -2 --prompts rendered
