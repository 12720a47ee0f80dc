#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Golden tests of the programs: runs tests/cli/PROGRAM/CASE.sh with bash, each
# in an empty folder, and compares what it prints and its exit status with
#   CASE.stdout   exact (no file: nothing may be printed)
#   CASE.stderr   one shell pattern a line; a line '...' stands for any number
#                 of lines (no file: not looked at)
#   CASE.exit     expected status (no file: 0)
# A case that exits 77 is skipped, its last line of output is the reason.
#
# A case finds: the built programs first in PATH, $SRC (this repository),
# $FAILIO (tests/inject), KM_CACHE and TMPDIR (empty folders, TMPDIR must be
# empty afterwards), KM_PYTHON (the runner's interpreter, where there is one),
# KM_READER (a Python with msgpack and zstandard, where there is one).
#
#   tests/cli/run.sh [PATTERN...]   only cases whose PROGRAM/CASE contains it
#   BUILD=DIR    build folder (build/release)
#   UPDATE=1     rewrite the expectations instead of comparing
#   WRAP=CMD     run every program under CMD, such as 'valgrind -q'
#   CASE_TIMEOUT=SECONDS  for every case, instead of 120 or what a line
#                '# timeout: SECONDS' in it says
set -euo pipefail

src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$src" && cd "${BUILD:-build/release}" && pwd)
suite=${SUITE:-cli}
cases_dir=$src/tests/$suite
passed=0 failed=0 skipped=0

top=$(mktemp -d)
trap 'chmod -R u+rwX "$top" 2>/dev/null || :; rm -rf "$top"' EXIT

bin=$build/bin
if [ -n "${WRAP:-}" ]; then
    bin=$top/bin
    mkdir "$bin"
    for program in "$build"/bin/*; do
        printf '#!/bin/sh\nexec %s %s "$@"\n' "$WRAP" "$program" \
            >"$bin/${program##*/}"
        chmod +x "$bin/${program##*/}"
    done
fi

cache=${KM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kernelmill}
if [ -z "${KM_PYTHON:-}" ] && [ -x "$cache/python" ]; then
    KM_PYTHON=$cache/python
fi
if [ -x "$cache/python-reader" ]; then
    export KM_READER="$cache/python-reader"
fi
if [ -n "${KM_PYTHON:-}" ]; then export KM_PYTHON; else unset KM_PYTHON; fi
export SRC=$src PATH="$bin:$PATH" FAILIO="$build/lib/failio.so"
export KM_LIBEXEC="${KM_LIBEXEC:-$build/libexec}"
export LC_ALL=C.UTF-8 TZ=UTC GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@example.invalid
export GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@example.invalid
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z'
export GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
unset XDG_CACHE_HOME KM_FAIL

# Does the file $2 match the patterns in $1?
match_lines() {
    local -a patterns lines
    local any='' i=0 pattern
    mapfile -t patterns <"$1"
    mapfile -t lines <"$2"
    for pattern in ${patterns[@]+"${patterns[@]}"}; do
        if [ "$pattern" = ... ]; then
            any=1
            continue
        fi
        # shellcheck disable=SC2053 # the right side is meant as a pattern
        while [ -n "$any" ] && [ $i -lt ${#lines[@]} ] &&
            [[ ${lines[i]} != $pattern ]]; do
            i=$((i + 1))
        done
        any=''
        # shellcheck disable=SC2053
        [ $i -lt ${#lines[@]} ] && [[ ${lines[i]} == $pattern ]] || return 1
        i=$((i + 1))
    done
    [ -n "$any" ] || [ $i -eq ${#lines[@]} ]
}

update() { # base, scratch folder, status
    local base=$1 dir=$2
    rm -f "$base.exit"
    [ "$3" = 0 ] || echo "$3" >"$base.exit"
    if [ -s "$dir/stdout" ]; then
        cp "$dir/stdout" "$base.stdout"
    else
        rm -f "$base.stdout"
    fi
    # Patterns written by hand stay as long as they hold.
    if [ -e "$base.stderr" ] || { [ "$3" != 0 ] && [ -s "$dir/stderr" ]; }; then
        if [ ! -e "$base.stderr" ] ||
            ! match_lines "$base.stderr" "$dir/stderr"; then
            sed -E -e 's/[][*?\\]/\\&/g' -e "s#$dir(/work)?#*#g" \
                -e 's/[0-9.]+ s$/* s/' "$dir/stderr" >"$base.stderr"
        fi
    fi
}

check_case() { # base, scratch folder, status; prints what is wrong
    local base=$1 dir=$2 want=0 left=''
    [ ! -e "$base.exit" ] || want=$(cat "$base.exit")
    if [ "$3" = 124 ] && [ "$want" != 124 ]; then
        echo "timed out"
    elif [ "$3" != "$want" ]; then
        echo "exit status $3, expected $want"
    fi
    [ -e "$base.stdout" ] || : >"$dir/none"
    diff -u --label expected --label stdout \
        "$([ -e "$base.stdout" ] && echo "$base.stdout" || echo "$dir/none")" \
        "$dir/stdout" | head -n 40
    if [ -e "$base.stderr" ] && ! match_lines "$base.stderr" "$dir/stderr"; then
        echo "stderr does not match ${base##*/}.stderr:"
        diff -u --label expected --label stderr "$base.stderr" "$dir/stderr" |
            head -n 40
    elif [ "$3" != "$want" ]; then
        tail -n 20 "$dir/stderr"
    fi
    grep -E -m 5 'Sanitizer|runtime error:' "$dir/stderr" || :
    left=$(ls -A "$dir/tmp")
    [ -z "$left" ] || echo "left in TMPDIR: $left"
}

run_case() { # PROGRAM/CASE
    local name=$1 base=$cases_dir/$1 dir status=0 wrong limit
    if [[ $name == km-* ]] && [ ! -x "$build/bin/${name%%/*}" ]; then
        echo "skipped $name: ${name%%/*} is not built"
        skipped=$((skipped + 1))
        return
    fi
    local start=$SECONDS
    dir=$(mktemp -d "$top/case.XXXXXX")
    limit=$(sed -nE 's/^# timeout: ([0-9]+)$/\1/p' "$base.sh")
    mkdir "$dir/work" "$dir/tmp" "$dir/cache" "$dir/home"
    (
        cd "$dir/work"
        export HOME=$dir/home TMPDIR=$dir/tmp KM_CACHE=$dir/cache
        timeout -k 5 "${CASE_TIMEOUT:-${limit:-120}}" bash "$base.sh" \
            >"$dir/stdout" 2>"$dir/stderr" </dev/null
    ) || status=$?
    if [ $status = 77 ]; then
        echo "skipped $name: $(tail -n 1 "$dir/stdout")"
        skipped=$((skipped + 1))
    elif [ -n "${UPDATE:-}" ] && [ $status != 124 ]; then
        update "$base" "$dir" $status
        passed=$((passed + 1))
    else
        wrong=$(check_case "$base" "$dir" $status) || :
        if [ -z "$wrong" ]; then
            passed=$((passed + 1))
        else
            printf 'FAILED %s\n%s\n' "$name" "$wrong"
            failed=$((failed + 1))
        fi
    fi
    [ $((SECONDS - start)) -lt 30 ] || echo "slow $name: $((SECONDS - start)) s"
    chmod -R u+rwX "$dir" 2>/dev/null || :
    rm -rf "$dir"
}

selected() {
    local pattern
    [ $# -gt 1 ] || return 0
    for pattern in "${@:2}"; do
        [[ $1 != *"$pattern"* ]] || return 0
    done
    return 1
}

for file in "$cases_dir"/*/*.sh; do
    [ -e "$file" ] || continue
    name=${file#"$cases_dir"/}
    name=${name%.sh}
    if selected "$name" "$@"; then
        run_case "$name"
    fi
done
if [ $((passed + failed + skipped)) = 0 ]; then
    echo "$suite: no case in tests/$suite${*:+ matches '$*'}" >&2
    exit 1
fi
printf '%s: %d passed, %d failed' "$suite" $passed $failed
[ $skipped = 0 ] || printf ', %d skipped' $skipped
echo
[ $failed = 0 ]
