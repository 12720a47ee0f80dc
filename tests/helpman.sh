#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The options in `PROGRAM [COMMAND] --help` and those that man/PROGRAM.1 lists
# ('.It Fl' lines) must be the same.
set -euo pipefail

src=$(cd "$(dirname "$0")/.." && pwd)
bin=$(cd "$src" && cd "${BUILD:-build/release}" && pwd)/bin
passed=0 failed=0

commands() { # of a program with several; - = the program alone
    case $1 in
    km-trajectories) echo import select ;;
    km-clean) echo - fingerprint ;;
    km-testgen) echo - import variant ;;
    *) echo - ;;
    esac
}

help_options() {
    local program=$1 command list
    list=$(commands "$program")
    for command in $list; do
        command=${command#-}
        "$bin/$program" ${command:+"$command"} --help ||
            echo "  --help-fails"
    done | sed -nE 's/^ +(-[A-Za-z@], )?--(\[no-\])?([a-z0-9][a-z0-9-]*).*/--\3/p' |
        sort -u
}

man_options() {
    sed -nE '/^\.It .*Fl/p' "$1" | tr ' ' '\n' |
        sed -nE 's/^(\\&)?-([a-z0-9][a-z0-9-]*)$/--\2/p' | sort -u
}

for program in "$bin"/*; do
    [ -x "$program" ] || continue
    name=${program##*/}
    page=$src/man/$name.1
    if [ ! -e "$page" ]; then
        wrong="no man page man/$name.1"
    else
        wrong=$(diff --label "$name --help" --label "man/$name.1" -U 0 \
            <(help_options "$name") <(man_options "$page") |
            grep -E '^[-+]' | sed 1,2d) || :
        [ -n "$(help_options "$name")" ] || wrong="$name --help lists nothing"
    fi
    if [ -z "$wrong" ]; then
        passed=$((passed + 1))
    else
        printf '%s: help (-) and man page (+) differ:\n%s\n' "$name" "$wrong"
        failed=$((failed + 1))
    fi
done
printf 'helpman: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
