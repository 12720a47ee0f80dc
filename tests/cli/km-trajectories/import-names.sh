# A file name that is no UTF-8, for programs with and without their own id, and
# for what cannot be read: the stream stays readable.
set -euo pipefail
dir=run/checkpoints/checkpoint_1/programs
mkdir -p $dir
touch run/checkpoints/checkpoint_1/metadata.json
printf '{"code":"a"}' >"$dir/"$'a\xff.json'
printf '{"id":"own","code":"b"}' >"$dir/"$'b\xff.json'
printf '{"code' >"$dir/"$'c\xc3.json'
# Metrics of very many keys cost no more time than their bytes.
seq 300000 | sed 's/.*/"&":&/' | paste -sd, |
    sed 's/.*/{"id":"many","code":"c","metrics":{&}}/' >$dir/many.json
timeout 60 km-trajectories import run --task 00112233445566778899aabbccddeeff \
    -q -o run.km
km-cat --verify run.km
km-cat --json run.km | jq -r 'select(.kind == "revision") |
    [.program, .state, .why[], (.flags // [])[], .note // "-"] | join(" ")'
