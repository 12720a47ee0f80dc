# SPDX-License-Identifier: MIT
# Near-duplicates: same outcome for any order, the better licence first, an
# index over several runs, and a run that broke repeated.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

body() { # class, activation, rounds
    printf 'class %s(nn.Module):\n    def __init__(self, width):\n' "$1"
    printf '        super().__init__()\n'
    for ((i = 0; i < $3; i++)); do
        printf '        self.part%d = nn.Linear(width, width + %d)\n' "$i" "$i"
    done
    printf '    def forward(self, x):\n'
    for ((i = 0; i < $3; i++)); do
        printf '        x = torch.%s(self.part%d(x)) + %d\n' "$2" "$i" "$i"
    done
    printf '        return x\n'
}
# name, licence, class, rest of body's arguments
repo() {
    { printf '=== %s.py\nimport torch\nfrom torch import nn\n' "$1"
        body "$3" "$4" "$5"
        printf '=== modules\n%s.py %s\n' "$1" "$3"; } | records "$1" |
        sed "s/\"spdx\":\"MIT\"/\"spdx\":\"$2\"/" |
        sed "s/\"bases\":\[\]/&,\"licence\":{\"spdx\":\"$2\"}/"
}
repo one Apache-2.0 First relu 6 >one.jsonl
repo two MIT Second relu 7 >two.jsonl
repo three GPL-3.0-only Third relu 6 >three.jsonl
repo four 0BSD Other tanh 30 >four.jsonl
join() {
    head -n 1 "$1.jsonl"
    for name; do grep -v '"kind":"header"\|"kind":"end"' "$name.jsonl"; done
    tail -n 1 "$1.jsonl"
}
join one two three four >all.jsonl
join four three two one >back.jsonl
list() {
    grep '"kind":"module"' | sed 's/"inlined":.*"cluster"/"cluster"/' |
        sed -E 's/.*"id":"([0-9a-f]{6}).*"why":(\[[^]]*\]).*"name":"([A-Za-z]*)"/\3 \1 \2/;s/"cluster":"([0-9a-f]{6})[0-9a-f]*"/cluster \1/;s/"duplicate_of":"([0-9a-f]{6})[0-9a-f]*"/of \1/;s/"(entry|source|imports|licence|note|line)":("[^"]*"|\[[^]]*\]|\{[^}]*\}|[0-9]*)//g;s/"(end_line|bases)":[^,]*//g;s/[,{}]+/ /g' | sed 's/ *$//' | sort
}
km-clean --json <all.jsonl | list
km-clean --json <back.jsonl | list | cmp - <(km-clean --json <all.jsonl | list)
echo "-- kept"
km-clean --json --keep-near <all.jsonl | list | grep near
echo "-- none"
km-clean --json --no-dedup <all.jsonl | list
echo "-- less similar"
km-clean --json --similarity 0.95 <all.jsonl | list
echo "-- index: what came first stays"
km-clean --json --index seen.db <three.jsonl | list
km-clean --json --index seen.db <all.jsonl >first
list <first
km-clean --json --index seen.db --jobs 3 <all.jsonl | cmp - first
echo "-- broken run"
cp first want
again() { # the index is as before, or has what was decided
    km-clean --json --index seen.db <all.jsonl | cmp - want
    rm seen.db
    km-clean --json --index seen.db <three.jsonl >none
}
LD_PRELOAD=$FAILIO KM_FAIL=write:1 km-clean --json -j 1 --index seen.db \
    <all.jsonl >broken || echo $?
again
km-clean --json --index seen.db <all.jsonl >/dev/full || echo $?
again
echo "-- errors"
km-clean --json --index seen.db --shingle 7 <all.jsonl >none || echo $?
echo text that is no database, but long enough to be looked at >bad.db
km-clean --json --index bad.db <all.jsonl >none || echo $?
km-clean --json --index seen.db --no-dedup <all.jsonl >none || echo $?
# one byte: of what is kept about a module, of the pages
break_at() {
    cp seen.db damaged.db
    python3 - "$1" <<'END'
import sys
data = bytearray(open("damaged.db", "rb").read())
page = int.from_bytes(data[16:18], "big")
if sys.argv[1] == "page":
    at = next(i for i in range(page, len(data), page) if data[i] == 13)
else:
    at = data.rindex(bytes.fromhex(sys.argv[1]))
data[at] ^= 64
open("damaged.db", "wb").write(data)
END
    km-clean --json --index damaged.db <all.jsonl >none || echo $?
}
id=$(sed -nE 's/.*"duplicate_of":"([0-9a-f]{32}).*/\1/p' want | head -n 1)
break_at "$id"
break_at page
