set -euo pipefail
. "$SRC/tests/cli/km-cat/streams.bash"
names() {
    km-cat --json "$@" | jq -r 'select(.kind == "revision") |
         "\(.program) \(.state)"'
}
names a.km b.km
for filter in '--head 2' '-n 0' '-k step' '-k revision,step' '-s failed' \
    '-s ok,rejected' '-w recorded.score=1.5' '-w why=trajectories.no_code' \
    '-w parent=' '-w program=p1 -w state=ok' '-w program=p1 -w state=failed' \
    '-w iteration=7 -s rejected'; do
    echo "-- $filter"
    # shellcheck disable=SC2086 # words
    names $filter a.km b.km
done
echo '-- counts'
km-cat -c a.km b.km
km-cat -c --json a.km b.km
km-cat -c -s ok <a.km
km-cat -c -n 1 a.km
