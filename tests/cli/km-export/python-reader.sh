# The three lines that the man page shows, with msgpack and zstandard.
. "$SRC/tests/cli/km-export/steps.bash"
for python in "${KM_READER:-}" "${KM_PYTHON:-}" python3 /usr/bin/python3; do
    [ -n "$python" ] && "$python" -c 'import msgpack, zstandard' 2>/dev/null &&
        found=$python
done
[ -n "${found:-}" ] || {
    echo 'no Python with msgpack and zstandard'
    exit 77
}
km-export --tasks tasks.km -i steps.km -q --out data
cd data && "$found" "$SRC/tests/read_shards.py"
# The man page has the same lines.
lines() { tail -n 3 "$1" | tr -d ' \n' | sed 's/print(.*//'; }
man() {
    sed -n '/^import msgpack/,/\.\.\./p' "$SRC/man/km-export.1" | tr -d ' \n' |
        sed 's/\.\.\.$//'
}
[ "$(lines "$SRC/tests/read_shards.py")" = "$(man)" ] && echo 'as in the manual'
readme() {
    sed -n '/^import msgpack/,/^```/p' "$SRC/README.md" | grep -v '^```'
}
[ "$(tail -n 3 "$SRC/tests/read_shards.py")" = "$(readme)" ] &&
    echo 'as in the README'
