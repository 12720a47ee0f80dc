# SPDX-License-Identifier: MIT
# Candidates that say in their first comments what their verdict must be:
#   # hack: NUMBER of the table in docs/evaluator.md, or extra (not in honest/)
#   # task: NAME of tasks/
#   # expect: OUTCOME[|OUTCOME...] [finding:CODE] [contract:CODE] [pass:PROFILE]
#   # ratio: about 1 | at most 1 | above N   (of outcome ok)
#   # stopped by: ring | harmless | evidence | nothing, and a sentence
# KM_DEVICE=cpu runs them there, SMALL=1 with smaller shapes; ONLY="NAME NAME"
# limits them.
set -euo pipefail
. "$SRC/tests/cli/km-evaluate/streams.bash"
. "$SRC/tests/gpu/km-evaluate/tasks.bash"

need_gpu() {
    [ "${KM_DEVICE:-cuda}" = cuda ] || return 0
    ls /dev/nvidia[0-9]* >/dev/null 2>&1 || {
        echo "no GPU"
        exit 77
    }
}

# expectations FILE...: as one JSON object by name.
expectations() {
    local file
    for file in "$@"; do
        jq -cn --arg name "$(basename "$file" .py)" \
            --arg task "$(header "$file" task)" \
            --arg expect "$(header "$file" expect)" \
            --arg ratio "$(header "$file" ratio)" \
            --argjson honest "$([[ $file == */honest/* ]] && echo true || echo false)" \
            '{($name): ($ARGS.named | del(.name))}'
    done | jq -cs add
}

# judged EXPECTATIONS < VERDICTS: "ok NAME EXPECTED", or BAD and all that tells
# why; and lines that begin with "#" for what was measured of the others.
judged() {
    jq -rn --argjson all "$1" '
        def near($want; $r): $want == ""
            or ($want == "about 1" and $r > 0.85 and $r < 1.18)
            or ($want == "at most 1" and $r < 1.15)
            or ($want | startswith("above ")) and
               $r > ($want | ltrimstr("above ") | tonumber);
        foreach inputs as $r ({}; if $r.kind == "revision"
            then {name: $r.program} else .v = $r end)
        | select(.v.kind == "verdict")
        | .name as $name | .v as $v | $all[$name] as $x | $v
        | ($x.expect | split(" ")) as $words
        | .outcome as $o
        | (any($words[0] | split("|")[]; . == $o)
           and all($words[1:][]; split(":") as [$kind, $code]
               | if $kind == "finding" then
                     [$v.findings[]?.code] | index([$code]) != null
                 elif $kind == "contract" then
                     [$v.contract.codes[]?] | index([$code]) != null
                 else $v.pass[$code] == true end)
           and ($o != "ok" or near($x.ratio; .time.ratio // -1))
           and ($x.honest == false or $v.pass.kbv == true and
                all(.findings[]?; .grade == "note"))) as $ok
        | (if $ok then "ok \($name) \($words[0])" else empty end),
          (if $ok then "#" else "BAD" end) + " \($name) \($o // .state)"
          + (if .time == null then "" else
             " \(.time.method) ratio \(.time.ratio * 1000 | round / 1000)"
             + " of \(.time.reference_ns / 100 | round / 10) us"
             + (if .time.eager then " (\(.time.eager))" else "" end) end)
          + ([.findings[]? | " \(.grade):\(.code)"] | join(""))
          + ([.contract.codes[]? | " contract:\(.)"] | join(""))
          + (if $ok then "" else " (expected \($x.expect)"
             + (if $x.ratio == "" then "" else ", ratio \($x.ratio)" end) + ")"
             + " pass \(.pass) why \(.why) note \(.note) detail \(.detail)"
             + ([.correct[]? | select(.tested and (.pass.strict | not))
                 | " \(.config)/\(.mode): outside \(.outside) nan \(.nan)"
                 + " inf \(.inf) max_abs \(.max_abs)"] | join(""))
             + ([.correct[]? | select(.tested | not)
                 | select(.why_not == "not reached" or
                          (.why_not // "" | test("finite|raises")))
                 | " \(.config)/\(.mode): \(.why_not)"] | join("")) end)'
}

# fixtures FOLDER PATTERN...: those of FOLDER whose names match.
fixtures() {
    local folder=$gpu_tests/$1 pattern file name
    local -a files=()
    shift
    for pattern in "$@"; do
        for file in "$folder"/$pattern.py; do
            name=$(basename "$file" .py)
            [ -e "$file" ] || continue
            [ -z "${ONLY:-}" ] || [[ " $ONLY " == *" $name "* ]] || continue
            files+=("$file")
        done
    done
    [ ${#files[@]} != 0 ] || {
        echo "none"
        return 0
    }
    # By task, so that its reference is made ready once.
    for file in "${files[@]}"; do
        echo "$(header "$file" task) $file"
    done | sort >by_task
    cut -d ' ' -f 1 by_task | uniq | while read -r name; do
        gpu_task "$name"
    done >tasks
    while read -r name file; do
        if [ -n "${SMALL:-}" ]; then
            sed -e "$(header "$gpu_tests/tasks/$name.py" small)" "$file" \
                >"$(basename "$file")"
            file=$PWD/$(basename "$file")
        fi
        revision "$name" "$file"
    done <by_task >revisions
    km-evaluate --bare --json --no-store --device "${KM_DEVICE:-cuda}" \
        --budget "${BUDGET:-1}" --tasks tasks <revisions >verdicts ||
        echo "km-evaluate: status $?"
    judged "$(expectations "${files[@]}")" <verdicts >said
    grep '^#' said >&2 || :
    grep -v '^#' said | sort -k 2 | cut -c -1500
    echo "$(grep -c '^ok' said || :) of ${#files[@]} as expected"
}
