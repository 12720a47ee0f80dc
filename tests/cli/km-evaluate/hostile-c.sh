# SPDX-License-Identifier: MIT
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
{
    relu_task
    linear_task
} >tasks
{
    for name in relu relu_overrun relu_null relu_loop relu_thread \
        relu_threads_loop relu_constructor relu_lazy relu_refuses build_error \
        build_no_entry build_include relu; do
        revision relu "$here/$name.c"
    done
    revision linear "$here/linear.c"
    revision linear "$here/linear_matmul.py"
    revision linear "$here/linear_packed.py"
} >revisions
evaluate --tasks tasks <revisions | outcomes
