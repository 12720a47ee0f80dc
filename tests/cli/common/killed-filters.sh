# timeout: 300
# The stages that run no candidate: killed at any moment and started again,
# they write what they would have written.
. "$SRC/tests/cli/common/killed.bash"
sample
km-harvest -q sample.git -o h.km
km-clean -q -i h.km -o c.km
km-cat --bare -o tasks.km - </dev/null
km-trajectories import -q "$SRC"/pipelines/sample/runs/* -o r.km
killed 250 km-harvest -q -j 2 sample.git
killed 250 km-clean -q -j 2 -i h.km
killed 100 km-trajectories import -q "$SRC"/pipelines/sample/runs/*
killed 60 km-trajectories select -q -i r.km
killed 60 km-cat r.km
for ((i = 0; i < kills; i++)); do
    rm -rf set want
    km-export -q --tasks tasks.km -i r.km --out want
    km-export -q --tasks tasks.km -i r.km --out set &
    sleep "0.0$((RANDOM % 60 + 10))"
    kill -9 $! 2>err || :
    wait $! 2>err || :
    # The manifest comes last: with it the set is whole.
    [ ! -e set/manifest.json ] || diff -r set want
    rm -rf set
    km-export -q --tasks tasks.km -i r.km --out set
    diff -r set want
done
echo "all done"
