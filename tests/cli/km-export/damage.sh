# Whatever is changed in a data set is found.
set -euo pipefail
. "$SRC/tests/cli/km-export/steps.bash"
km-export --tasks tasks.km -i steps.km -q --out data --jsonl
check() {
    echo "-- $1"
    km-export --verify bad 2>&1 || echo "$?"
    rm -rf bad
    cp -r data bad
}
cp -r data bad
check whole
shard=bad/sft-00000.msgpack.zst
truncate -s -5 $shard
check 'cut in the last frame'
: >$shard
check empty
size=$(stat -c %s $shard)
printf '\x55' | dd of=$shard bs=1 seek=$((size / 2)) conv=notrunc status=none
check 'a flipped byte'
cat $shard $shard >twice && mv twice $shard
check 'two streams in one file'
rm $shard
check missing
zstd -dq $shard -o raw && rm $shard && zstd -19 -q raw -o $shard
check 'compressed anew'
cp $shard bad/sft-00001.msgpack.zst
check 'a shard too many'
sed -i 's/"records":2/"records":3/' bad/manifest.json
check 'a wrong count'
sed -i 's#"name":"sft#"name":"../sft#' bad/manifest.json
check 'a name that leads out'
sed -i 's/kernelmill-dataset/something/' bad/manifest.json
check 'another format'
sed -i 's/"version": 1/"version": 2/' bad/manifest.json
check 'a later version'
echo '{' >bad/manifest.json
check 'no JSON'
echo more >>bad/sft-00000.jsonl
check 'a changed JSON lines file'
# Every cut of a shard is found.
size=$(stat -c %s data/grpo-00000.msgpack.zst)
for ((at = 0; at < size; at += 61)); do
    head -c $at data/grpo-00000.msgpack.zst >bad/grpo-00000.msgpack.zst
    ! km-export --verify bad >out 2>&1 || echo "cut at $at is not found"
done
