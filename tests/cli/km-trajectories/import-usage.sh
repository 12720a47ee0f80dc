try() {
    rc=0
    "$@" >out || rc=$?
    echo "$rc $(wc -c <out)"
}
mkdir -p a/run b/run empty
touch a/run/x
try km-trajectories import
try km-trajectories import nowhere
try km-trajectories import a/run b/run
try km-trajectories import a/run --language fortran
try km-trajectories import a/run --tasks nowhere.km
try km-trajectories
try km-trajectories export
km-trajectories --version | sed 's/[0-9.]*$/VERSION/'
# A folder that is no run, and names made of two parts.
km-trajectories import a/run b/run --run-parts 2 --json |
    jq -r 'select(.kind == "revision") | [.run, .state, .why[], .note] | @tsv'
cd empty && km-trajectories import . --json | jq -r '.run // empty'
# A stream of tasks that is cut short is fatal: names would be missing.
printf '\x81\xa4kind' >cut.km
km-trajectories import . --tasks cut.km --json >out || echo "$?"
