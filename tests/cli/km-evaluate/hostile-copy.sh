# SPDX-License-Identifier: MIT
# Candidates that want to save the copy of their result, which the reference
# pays for; and an honest one that looks like them.
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
relu_task >tasks
for name in frames function_mode dispatch_mode subclass default_device; do
    revision relu "$here/relu_$name.py"
done >revisions
evaluate --tasks tasks <revisions | outcomes
