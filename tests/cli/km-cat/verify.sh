. "$SRC/tests/cli/km-cat/streams.bash"
rc() { "$@" 2>&1 || echo "$?"; }
rc km-cat --verify a.km b.km
rc km-cat --verify <a.km
km-cat --json a.km >a.jsonl
rc km-cat --verify a.jsonl
cp a.km bad.km
printf 'X' | dd of=bad.km bs=1 seek=$(($(stat -c %s bad.km) - 40)) conv=notrunc status=none
rc km-cat --verify bad.km
sed '2s/"code":"a"/"code":"changed"/' a.jsonl >bad.jsonl
rc km-cat --verify bad.jsonl
sed '2s/"code":"a"/"code":7/' a.jsonl >bad.jsonl
rc km-cat --verify bad.jsonl
sed '2s/"task"/"tusk"/' a.jsonl >bad.jsonl
rc km-cat --verify bad.jsonl
sed '3s/^{/[/' a.jsonl >bad.jsonl
rc km-cat --verify bad.jsonl
rc km-cat --strict --json bad.jsonl | tail -n 3
sed '1s/"v":1/"v":2/' a.jsonl >bad.jsonl
rc km-cat --verify bad.jsonl
sed 1d a.jsonl >bad.jsonl
rc km-cat --verify bad.jsonl
cat a.km b.km >bad.km
rc km-cat --verify bad.km
echo '# cuts'
size=$(stat -c %s a.km)
for ((at = 0; at < size; at += 17)); do
    head -c $at a.km >cut.km
    ! km-cat --verify cut.km >out 2>&1 || echo "cut at $at is not found"
    ! km-cat cut.km -o out.km 2>out || echo "cut at $at is taken"
    [ ! -e out.km ] || echo "cut at $at leaves a file"
done
