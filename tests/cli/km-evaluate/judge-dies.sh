# SPDX-License-Identifier: MIT
# A judge that dies is started again, once for each candidate; the next
# candidate gets a fresh one.
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
relu_task >tasks
for name in sleep clamp; do
    revision relu "$here/relu_$name.py"
done >revisions
km-evaluate --bare --json --no-store --budget 0.2 --tasks tasks \
    <revisions >out 2>err &
parent=$!
killed=0
while [ $killed -lt 2 ] && kill -0 $parent 2>gone; do
    read -ra children <"/proc/$parent/task/$parent/children" || :
    for child in ${children[@]+"${children[@]}"}; do
        # Only once it has a zygote: it is at work then.
        if [ "$(cat "/proc/$child/comm" 2>gone)" = km-judge ] &&
            [ -n "$(cat "/proc/$child/task/$child/children" 2>gone)" ]; then
            kill -9 "$child"
            killed=$((killed + 1))
        fi
    done
    sleep 0.2
done
wait $parent
echo "$killed killed"
outcomes <out
jq -r 'select(.kind == "verdict" and .state == "failed") | .note' out
