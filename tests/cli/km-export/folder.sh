# What the folder may hold, and what is left there.
set -euo pipefail
. "$SRC/tests/cli/km-export/steps.bash"
export_to() { km-export --tasks tasks.km -i steps.km -q --out "$@"; }
rc() { "$@" 2>message && echo 0 || echo "$? $(head -n 1 message)"; }

mkdir foreign
echo mine >foreign/notes.txt
rc export_to foreign
ls foreign
rc export_to foreign --force
ls foreign
# Many small shards, then few: those left over go.
rc export_to data --shard-size 1
ls data | wc -l
km-export --verify data
rc export_to data
ls data
# A run that was killed leaves its beginnings; the next one tidies up.
touch new-data.part
mkdir killed
touch killed/manifest.json.part killed/sft-00000.msgpack.zst.part \
    killed/sft-00009.jsonl
rc export_to killed
ls killed
# Input that is cut off leaves the old data set as it was.
cp -r data before
head -c 900 steps.km >cut.km
rc km-export --tasks tasks.km -i cut.km -q --out data
diff -r before data && echo untouched
rc km-export --tasks cut.km -i steps.km -q --out data
diff -r before data && echo untouched
rc km-export --tasks tasks.km -i cut.km -q --out never
[ ! -e never/manifest.json ] && ls -A never
# A full disk, at any write.
for call in write:1 write:2 write:3 write:4 fsync:1 rename:1 rename:3; do
    rm -rf full
    LD_PRELOAD=$FAILIO KM_FAIL=$call km-export --tasks tasks.km -i steps.km \
        -q --out full 2>message && echo "$call was not noticed"
    [ ! -e full/manifest.json ] || echo "$call: manifest"
    export_to full
    diff -r before full || echo "$call: not the same afterwards"
done
rc export_to /proc/none
rc export_to tasks.km
rc km-export --out data
rc km-export --verify nowhere
