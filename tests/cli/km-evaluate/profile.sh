# SPDX-License-Identifier: MIT
# All three judgements are in every verdict; the profile says which one a
# candidate must pass to be timed. The outcome is always that of strict.
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
relu_task >tasks
revision relu "$here/relu_identity.py" >revisions
for profile in strict kernelbench; do
    evaluate --tasks tasks --profile $profile --explain <revisions 2>said |
        jq -c 'select(.kind == "verdict")
            | [.options.profile, .outcome, .pass, .time != null]'
    # Numbers of what was drawn and of the machine are left out.
    sed -E 's/[0-9.]+ %/N %/; s/(difference|relative) [0-9.e+-]+/\1 N/g
        s/^(  time  ).*/\1/; /^            ring of/d
        s/^(  (memory|device) ).*/\1/' said
done
