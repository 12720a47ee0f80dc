# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# killed MS COMMAND...: kills COMMAND -o x.km at 20 random moments within MS
# milliseconds, starts it again after each (again=0: after the last), and
# compares with want.km, from a run that was not killed (want=have: it is there,
# want=none: nothing to compare with). Nothing of it may live on, no half file
# may have the final name.
set -euo pipefail
RANDOM=20260101
mkdir in-here && cd in-here # the test's own processes are not in it
kills=${KM_KILLS:-20}

# Processes that work in this folder and are not this shell.
living() {
    local cwd pid
    for cwd in /proc/[0-9]*/cwd; do
        pid=${cwd#/proc/}
        pid=${pid%/cwd}
        [ "$(readlink "$cwd")" != "$PWD" ] || [ "$pid" = $$ ] ||
            [ "$pid" = "$BASHPID" ] || echo "$pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    done 2>/dev/null
}

same() {
    [ "${want:-}" = none ] || cmp x.km want.km
}

killed() {
    local ms=$1 again=${again:-1} i pid left
    shift
    [ -n "${want:-}" ] || { rm -f want.km && "$@" -o want.km; }
    for ((i = 0; i < kills; i++)); do
        "$@" -o x.km >out 2>err &
        pid=$!
        sleep "$((RANDOM % ms / 1000)).$(printf %03d $((RANDOM % ms % 1000)))"
        kill -9 $pid 2>err || :
        wait $pid 2>err || :
        [ ! -e x.km ] || same
        if [ "$again" = 1 ] || [ $i = $((kills - 1)) ]; then
            "$@" -o x.km 2>err || cat err
            same
        fi
        rm -f x.km
    done
    [ ! -e x.km.part ] || echo "$1: left x.km.part"
    for i in 1 2 3 4 5 6 7 8 9 10; do
        left=$(living)
        [ -n "$left" ] || break
        sleep 0.3
    done
    [ -z "$left" ] || echo "$1: left processes: $left"
    rm -f x.km
}

sample() {
    git init -q --bare sample.git
    git -C sample.git fast-import --quiet <"$SRC/pipelines/sample/repo.fi"
}
