# SPDX-License-Identifier: MIT
# Candidates that leave, break their process or the machine's limits: each ends
# in a verdict, and the honest one after them is judged as if nothing had been.
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
relu_task >tasks
for name in exit_import exit_forward exit_plain sys_exit writes_fds \
    fork_bomb memory_bomb hang sleep crash many clamp; do
    revision relu "$here/relu_$name.py"
done >revisions
revision relu "$here/load_many.py" >>revisions
evaluate --tasks tasks <revisions | outcomes
