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
    cut -c 10- said
done
