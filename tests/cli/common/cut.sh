# A stream cut anywhere, or with a byte changed, is exit 1 and an error line,
# in both encodings; a cut one is never taken for a whole one.
. "$SRC/tests/cli/common/programs.bash"
km-cat --zstd -o in.zst in.km
km-cat --json -o in.json in.km
for file in in.km in.zst in.json; do
    size=$(stat -c %s $file)
    for program in "${filters[@]}"; do
        # Unit tests cut at every byte; here each program gets its share.
        step=83 first=${first:-0}
        # A cut line of JSON is a failed record, then the stream is too short.
        lines=2
        [ $file != in.json ] || lines=3
        for ((n = first; n < size; n += step)); do
            head -c $n $file >cut.km
            # Without its last line feed, JSON text is still whole.
            [ "$file:$n" != "in.json:$((size - 1))" ] || continue
            # shellcheck disable=SC2086 # program and options
            status 1 $lines $program <cut.km
        done
        first=$(((first + 17) % step))
    done
done
for file in in.km in.zst; do
    size=$(stat -c %s $file)
    for ((n = 0; n < size; n += 29)); do
        old=$(od -An -tu1 -j $n -N 1 $file)
        cp $file changed
        # shellcheck disable=SC2059 # an octal escape
        printf "\\$(printf %o $((old ^ 1)))" |
            dd of=changed bs=1 seek=$n conv=notrunc status=none
        status 1 2 km-cat changed
    done
done
echo "all done"
