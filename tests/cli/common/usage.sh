# --help and --version are for stdout and 0; wrong use is 2 and two lines.
. "$SRC/tests/cli/common/programs.bash"
for program in "${filters[@]%% -*}" km-harvest km-export \
    'km-trajectories import'; do
    # shellcheck disable=SC2086 # program and command
    {
        status 0 0 $program --help
        head -n 1 out | cut -c "1-$((7 + ${#program}))"
        status 0 0 $program --version
        grep -qE '[0-9]+\.[0-9]+\.[0-9]+$' out || cat out
        status 2 2 $program --nothing-like-this
        [ ! -s out ] || echo "$program: wrong use, but output"
        to=/dev/full status 1 1 $program --help
        [ -s err ] || echo "$program --help >/dev/full: says nothing"
    }
done
