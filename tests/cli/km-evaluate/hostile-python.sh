# SPDX-License-Identifier: MIT
# Each attack ends in a verdict, and the honest candidate after it is judged as
# if nothing had been.
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
relu_task >tasks
for name in exit_import clamp exit_forward exit_plain sys_exit \
    writes_fds clamp fork_bomb memory_bomb clamp hang sleep crash clamp \
    thread spinning watcher clamp done_at_once done_early patches clamp; do
    revision relu "$here/relu_$name.py"
done >revisions
evaluate --tasks tasks <revisions | outcomes
