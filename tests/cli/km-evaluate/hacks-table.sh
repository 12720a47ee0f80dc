# SPDX-License-Identifier: MIT
# The candidates of tests/gpu/km-evaluate say in their first lines what they are;
# docs/evaluator.md has a row for each kind of hack, and names every fixture.
set -euo pipefail
. "$SRC/tests/gpu/km-evaluate/tasks.bash"
cli=$SRC/tests/cli/km-evaluate/candidates
sed -n '/^## Attack, defence, test/,/^Not defended/p' "$SRC/docs/evaluator.md" |
    grep '^|' >table
outcomes='ok|wrong|build_failed|load_failed|runtime_error|timeout|crash|memory'
outcomes+='|protocol|cheat|rejected'
requirement='(finding|contract|pass):[a-z_]+'
for file in "$gpu_tests"/{hacks,honest}/*.py; do
    name=$(basename "$file" .py)
    bad() { echo "$name: $1"; }
    [ -e "$gpu_tests/tasks/$(header "$file" task).py" ] || bad 'no such task'
    grep -qxE "($outcomes)(\|($outcomes))*( $requirement)*" \
        <<<"$(header "$file" expect)" || bad 'what is expected?'
    ratio=$(header "$file" ratio)
    grep -qxE '|about 1|at most 1|above [0-9.]+' <<<"$ratio" || bad 'ratio?'
    if [[ $file == */honest/* ]]; then
        [ "$(header "$file" expect)" = ok ] || bad 'honest, and not ok?'
        continue
    fi
    number=$(sed -nE 's/^0?([0-9]+)[a-z]?_.*/\1/p' <<<"$name")
    [ "$(header "$file" hack)" = "${number:-extra}" ] || bad 'another number'
    grep -qE '^(ring|harmless|evidence|nothing): ..' \
        <<<"$(header "$file" 'stopped by')" || bad 'what stops it?'
    # A hack that is judged right must say that it gains nothing.
    [[ ! $(header "$file" expect) =~ (^|\|)ok ]] || [ -n "$ratio" ] ||
        bad 'ok, and no ratio'
    grep -qE "^\| ${number:-} *\|.*\`$name\`" table || bad 'not in its row'
done
for number in {1..33}; do
    compgen -G "$gpu_tests/hacks/$(printf %02d "$number")*" >found ||
        echo "$number: no fixture"
done
# Names in the last column are those of files.
sed -E 's/.*\|([^|]*)\| *$/\1/' table | grep -oE '`[a-z0-9_.]+`' | tr -d '`' |
    while read -r name; do
        [ -e "$gpu_tests/hacks/$name.py" ] || [ -e "$cli/$name.py" ] ||
            [ -e "$cli/$name" ] || [ -e "$gpu_tests/candidates/$name.py" ] ||
            echo "$name: no such fixture"
    done
# Every candidate is in one of the cases.
for shard in hacks honest; do
    grep -hE "^fixtures $shard " "$gpu_tests"/$shard-*.sh |
        grep -oE "'[^']+'" | tr -d "'" >patterns
    while read -r pattern; do
        compgen -G "$gpu_tests/$shard/$pattern.py"
    done <patterns | sort >run
    printf '%s\n' "$gpu_tests/$shard"/*.py | sort | diff - run |
        sed "s#$gpu_tests/##"
done
echo "$(ls "$gpu_tests/hacks" | wc -l) hacks," \
    "$(ls "$gpu_tests/honest" | wc -l) honest"
