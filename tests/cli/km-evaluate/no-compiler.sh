# SPDX-License-Identifier: MIT
. "$SRC/tests/cli/km-evaluate/streams.bash"
relu_task >tasks
revision relu "$here/relu.c" >revisions
program=$(command -v km-evaluate)
mkdir empty
PATH=$PWD/empty "$program" --bare --json --no-store --tasks tasks \
    <revisions >out
jq -r 'select(.kind == "verdict") | .state, .outcome, .why[], .note' out
