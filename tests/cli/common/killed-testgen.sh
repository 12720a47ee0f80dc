# timeout: 600
# testgen killed at any moment takes finished modules from its store, and ends
# with the bytes that a run with an empty store writes, for any number of jobs.
. "$SRC/tests/cli/common/killed.bash"
[ -n "${KM_PYTHON:-}" ] || { echo "no interpreter with torch" && exit 77; }
sample
km-harvest -q sample.git | km-clean -q -o c.km
for name in RMSNorm PlainReLU RowSoftmax; do
    km-cat --where name=$name --json c.km | grep '"kind":"module"'
done | km-cat --bare -o few.km -
weak=''
km-testgen -q -j 2 -i few.km -o want.km 2>err || {
    grep -q sandbox err && weak=--allow-weak-sandbox
    km-testgen -q -j 2 $weak -i few.km -o want.km
}
KM_CACHE=$KM_CACHE/one km-testgen -q -j 1 $weak -i few.km -o one.km
cmp one.km want.km
export KM_CACHE=$KM_CACHE/killed
want=have again=0
killed 2500 km-testgen -q -j 2 $weak -i few.km
km-cat --json want.km | jq -r 'select(.kind == "task") | [.state, .name] | @tsv'
