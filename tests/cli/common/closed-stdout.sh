# A stdout that is closed or full is one line and exit 1.
. "$SRC/tests/cli/common/programs.bash"
git init -q --bare sample.git
git -C sample.git fast-import --quiet <"$SRC/pipelines/sample/repo.fi"
for program in "${filters[@]}" 'km-harvest sample.git'; do
    for to in '&-' /dev/full; do
        rc=0
        bash -c "$program <in.km >$to" 2>err || rc=$?
        [ $rc = 1 ] || echo "$program >$to: exit $rc"
        [ "$(wc -l <err)" = 1 ] && grep -q "^${program%% *}.*stdout" err || cat err
    done
done
echo "all done"
