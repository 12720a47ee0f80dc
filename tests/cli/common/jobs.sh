# The number of workers does not change a byte.
. "$SRC/tests/cli/common/killed.bash"
sample
same() {
    "$@" -j 1 -q -o one.km
    "$@" -j 2 -q -o two.km
    "$@" -j 5 -q -o five.km
    cmp one.km two.km
    cmp one.km five.km
}
same km-harvest sample.git sample.git
mv one.km h.km
same km-clean -i h.km
km-trajectories import -q "$SRC"/pipelines/sample/runs/* -o r.km
same km-trajectories import "$SRC"/pipelines/sample/runs/*
echo "all done"
