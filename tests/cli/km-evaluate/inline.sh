# SPDX-License-Identifier: MIT
# timeout: 300
# Extensions in C++: compiled by builders ahead of the judge, whose runner may
# start no compiler. One that does not compile ends there. A second verdict on
# the same source has what the first compiled.
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
"$KM_PYTHON" -c 'import ninja' 2>/dev/null || {
    echo "no ninja in the runner's environment"
    exit 77
}
relu_task >tasks
revision relu "$here/relu_inline.py" >revision
{
    cat revision
    sed 's/clamp_min(0)/clamp_min(nothing)/; s/"relu_inline"/"relu_refused"/' revision
} >revisions
show() {
    jq -r 'select(.kind == "verdict") | "\(.outcome) \(.built) \(.feedback)"' |
        sed 's/Correct\..*/Correct./'
}
judge() {
    km-evaluate --bare --json --budget 0.2 --store store.sqlite --tasks tasks "$@"
}
judge -j 2 <revisions | show
# Another budget is another verdict, but the same build.
judge --budget 0.3 <revision | show
