# What one form of the stream takes, the other takes as well; a line beyond the
# limits costs one record.
set -euo pipefail
line() { # JSON of the field x
    printf '{"kind":"module","id":"1","state":"ok","why":[],"x":%s}\n' "$1"
}
keys() { seq "$1" | jq -sc 'map({(tostring): .}) | add'; }
nest() { printf "%${1}s1%${1}s" '' '' | sed 's/ *1/\n&/' | tr -d '\n' |
    sed -E 's/^( *)1/\1#/; s/ /[/g' | sed -E "s/#.*/1$(printf ']%.0s' $(seq "$1"))/"; }
{
    echo '{"kind":"header","v":1}'
    line "$(keys 512)"
    line "$(keys 513)"
    line "$(nest 15)"
    line "$(nest 16)"
    line "\"$(head -c 17000000 /dev/zero | tr '\0' a)\""
    line "\"$(head -c 70000000 /dev/zero | tr '\0' a)\""
    printf '{"kind":"%070d"}\n' 1
    line 1
    echo '{"kind":"end"}'
    printf '\n \r\n'
} >limits.jsonl
km-cat limits.jsonl -o limits.km 2>&1
km-cat --verify limits.km || :
km-cat --count limits.km | tail -n 1
# Many keys cost no more time than their bytes.
{
    echo '{"kind":"header","v":1}'
    line "$(seq 400000 | sed 's/.*/"&":&/' | paste -sd, | sed 's/.*/{&}/')"
    echo '{"kind":"end"}'
} >keys.jsonl
timeout 60 km-cat --count keys.jsonl 2>&1
# The counts are one map: so many kinds and no more.
seq 513 | jq -c '{kind: "k\(.)", id: "1", state: "ok", why: []}' >kinds.jsonl
head -n 512 kinds.jsonl | km-cat --bare - | km-cat --count | tail -n 1
km-cat --bare kinds.jsonl -o kinds.km 2>&1 || ls kinds.km* 2>/dev/null || echo none
# Parallel compressors begin with a skippable frame.
{
    printf '\x5f\x2a\x4d\x18\x03\0\0\0abc'
    zstd -qc limits.km
} >skip.zst
km-cat --count skip.zst | tail -n 1
printf '\x50\x2a\x4d' | km-cat --count || echo "$?"
