# There and back, compressed or not, gives the same bytes.
set -euo pipefail
. "$SRC/tests/cli/km-cat/streams.bash"
sum() { km-cat --json "$@" | sed 1d | sha256sum; }
sum a.km >want
km-cat a.km -o c.km.zst
zstd -tq c.km.zst
sum c.km.zst | cmp - want
km-cat -z a.km | sum | cmp - want
km-cat --json a.km >a.jsonl
sum a.jsonl | cmp - want
km-cat --json a.km | zstd -q | km-cat --json - | sed 1d | sha256sum | cmp - want
km-cat a.jsonl | km-cat --verify
# As jq leaves them, without header and end.
jq -c 'select(.kind == "revision")' a.jsonl >bare.jsonl
sum --bare bare.jsonl | cmp - want
km-cat bare.jsonl --json >out || echo "$?"
# The chain of programs stays in the header.
km-cat a.km | km-cat --json -s ok | head -n 1 |
    jq -c '[.program, .options.state, (.chain[] | .program)]'
# Joined twice the records are there twice; the end counts them.
km-cat a.km b.km a.km | km-cat --json | tail -n 1
km-cat --json --bare </dev/null
