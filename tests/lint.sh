#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What compilers do not see. Every rule is one test; a rule prints what breaks
# it as file:line.
set -euo pipefail
shopt -s lastpipe # rule counts in this shell, not in a pipeline's child
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8

passed=0 failed=0 skipped=0
list=$(mktemp -d)
trap 'rm -rf "$list"' EXIT

# Files of the repository, also those not yet committed.
if git rev-parse --is-inside-work-tree >"$list/git" 2>&1; then
    git ls-files -co --exclude-standard
else
    find . -path ./build -prune -o -type f -print | sed 's#^\./##'
fi | sort -u | while read -r file; do
    [ ! -f "$file" ] || echo "$file"
done >"$list/all"

pick() { # files whose name matches $1 (and not $2), never data of tests
    grep -E "$1" "$list/all" | grep -vE '^tests/(data|fuzz/corpus|cli/.*/candidates)/|^pipelines/sample/' |
        { if [ $# -gt 1 ]; then grep -vE "$2"; else cat; fi; } || :
}
mapfile -t c_files < <(pick '\.[ch]$|\.def$')
mapfile -t cases < <(pick '^tests/(cli|gpu)/.*/.*\.sh$')
mapfile -t scripts < <(pick '\.sh$|^\.ci/run$' '^tests/(cli|gpu)/.*/')
mapfile -t formatted < <(pick '\.[ch]$')
mapfile -t c_only < <(pick '\.c$')
mapfile -t sources < <(pick '\.([chS]|def|py|mk)$|^Makefile$')
mapfile -t lib_files < <(pick '^lib/.*\.[chS]$')
mapfile -t text < <(pick '\.([chS]|def|sh|py|md|mk|in|[157])$|^Makefile$|^\.ci/run$|^\.[a-z-]+$')
mapfile -t man < <(pick '^man/.*\.[0-9]$')

rule() { # name; reads what breaks it
    local wrong
    wrong=$(sed -n 1,20p)
    if [ -z "$wrong" ]; then
        passed=$((passed + 1))
    else
        printf 'lint: %s\n%s\n' "$1" "$wrong"
        failed=$((failed + 1))
    fi
}

have() {
    command -v "$1" >"$list/have" && return
    echo "lint: skipped, no $1"
    skipped=$((skipped + 1))
    return 1
}

in_files() { # grep that is quiet about no match or no file
    local pattern=$1
    shift
    [ $# = 0 ] || grep -nHE "$pattern" "$@" || :
}

# Code with comments and strings blanked, as file:line:code.
strip_code() {
    [ $# = 0 ] || awk '
        FNR == 1 { inside = 0 }
        {
            line = $0; out = ""
            while (line != "") {
                if (inside) {
                    at = index(line, "*/")
                    if (!at) { line = ""; break }
                    line = substr(line, at + 2); inside = 0
                } else if (match(line, /\/\*|\/\/|"([^"\\]|\\.)*"|\x27([^\x27\\]|\\.)*\x27/)) {
                    out = out substr(line, 1, RSTART - 1)
                    tok = substr(line, RSTART, RLENGTH)
                    line = substr(line, RSTART + RLENGTH)
                    if (tok == "/*") inside = 1
                    else if (tok == "//") line = ""
                    else out = out "\"\""
                } else { out = out line; line = "" }
            }
            print FILENAME ":" FNR ":" out
        }' "$@"
}
strip_code ${c_files[@]+"${c_files[@]}"} >"$list/code"

banned='strcpy|strcat|strncpy|strncat|strtok|sprintf|vsprintf|gets|atoi|atol|atoll|atof'
banned+='|gmtime|localtime|ctime|asctime|mktemp|tmpnam|tempnam|alloca|setlocale'
{ grep -E "[^A-Za-z0-9_.>]($banned) ?\(" "$list/code" |
    grep -v '^lib/banned\.h:' || :; } | rule 'banned function'
{ grep -E '[^A-Za-z0-9_.>](system|popen|rand|srand) ?\(' "$list/code" |
    grep -v '^tests/' || :; } | rule 'banned function outside tests'
{ grep -E '[^_a-z](malloc|calloc|realloc|strdup|strndup|asprintf) ?\(' "$list/code" |
    grep -vE '^(lib/mem\.c|lib/run/jail|tests/|evaluate/runner_c|lib/banned)' || :; } |
    rule 'allocation without the x family'
{ grep -E '^lib/' "$list/code" | grep -E '[^_a-z]exit ?\(' |
    grep -vE '^lib/(mem|log|opt|stage|pool|proc)\.c:|^lib/run/jail' || :; } |
    rule 'exit in the library'
{ grep -E '^lib/' "$list/code" | grep -E '[^_a-z](printf|fprintf|puts|perror) ?\(' |
    grep -vE '^lib/(mem|log|opt|stage|progress)\.c:|^lib/run/jail' || :; } |
    rule 'printing in the library'

# Stage folders meet only in the record schema.
stages='harvest|clean|testgen|evaluate|trajectories|export'
for stage in ${stages//|/ }; do
    mapfile -t files < <(pick "^$stage/.*\.[ch]$")
    in_files "^ *# *include *\"(\.\./)*($stages)/" ${files[@]+"${files[@]}"} |
        grep -vE "\"$stage/" || :
done | rule 'include across stage folders'
in_files "^ *# *include *\"(\.\./)*($stages)/" ${lib_files[@]+"${lib_files[@]}"} |
    rule 'the library includes a stage'
for file in ${c_only[@]+"${c_only[@]}"}; do
    first=$(grep -m 1 -E '^ *# *include' "$file" || :)
    [ "$first" = '#include "base.h"' ] || [ -z "$first" ] || echo "$file: $first"
done | rule 'first include is not base.h'

in_files '[[:space:]]+$' "${text[@]}" | rule 'trailing space'
mapfile -t no_tabs < <(printf '%s\n' "${text[@]}" | grep -vE '\.mk$|^Makefile$|^\.git')
in_files $'\t' "${no_tabs[@]}" | rule 'tab'
in_files '\<(TO''DO|FIX''ME|XX''X|HA''CK)\>' "${text[@]}" | rule 'unfinished work'
for file in ${sources[@]+"${sources[@]}"} "${scripts[@]}"; do
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: MIT' || echo "$file"
done | rule 'no SPDX line'
for file in "${text[@]}"; do
    [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || echo "$file"
done | rule 'no newline at the end'
for file in ${c_only[@]+"${c_only[@]}"}; do
    lines=$(wc -l <"$file")
    [ "$lines" -le 1000 ] || echo "$file: $lines lines"
done | rule 'file too long'

# Programs, as the modules declare them.
mapfile -t modules < <(pick 'module\.mk$')
programs=$(sed -nE 's/^PROGS *\+= *//p' "${modules[@]}")
for program in $programs; do
    [ -e "man/$program.1" ] || echo "$program"
done | rule 'program without man page'
for program in $programs; do
    compgen -G "tests/cli/$program/*.sh" >"$list/have" || echo "$program"
done | rule 'program without CLI test'
pick '^tests/cli/.*\.(stdout|stderr|exit)$' | while read -r file; do
    [ -e "${file%.*}.sh" ] || echo "$file"
done | rule 'expectation without case'

# Cases source helpers, quote other languages, and stop at nothing.
loose=SC1091,SC2012,SC2015,SC2016,SC2028,SC2034,SC2094,SC2154,SC2164
if have shellcheck; then
    {
        shellcheck -f gcc "${scripts[@]}" || :
        [ ${#cases[@]} = 0 ] || shellcheck -f gcc -s bash -e "$loose" \
            "${cases[@]}" || :
    } | rule shellcheck
fi
if have clang-format; then
    { clang-format --dry-run -Werror "${formatted[@]}" 2>&1 |
        sed -nE 's/^([^: ]+):.* error: .*/\1/p' | sort | uniq -c || :; } |
        rule 'clang-format (places, file)'
fi
if have cppcheck; then
    # It reads hexadecimal float constants as zero (incorrectLogicOperator);
    # tensors lie in memory as bytes (invalidPointerCast).
    { cppcheck -q --inline-suppr --std=c11 --force --max-configs=2 -j 2 \
        --enable=warning,portability --suppress=missingInclude \
        --suppress=missingIncludeSystem --suppress=preprocessorErrorDirective \
        --suppress=unknownMacro --suppress=incorrectLogicOperator --suppress=invalidPointerCast \
        --error-exitcode=0 -Ilib -I. \
        "${c_only[@]}" 2>&1 || :; } | rule cppcheck
fi
if have mandoc && [ ${#man[@]} -gt 0 ]; then
    { mandoc -Tlint -Wwarning "${man[@]}" 2>&1 || :; } | rule mandoc
fi

printf 'lint: %d passed, %d failed' $passed $failed
[ $skipped = 0 ] || printf ', %d skipped' $skipped
echo
[ $failed = 0 ]
