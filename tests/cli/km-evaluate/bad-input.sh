# SPDX-License-Identifier: MIT
# What is wrong with a task or a revision costs one record; what is wrong with
# the call ends it.
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
{
    relu_task
    task no_model 'import torch
class Other: pass
' "$x64" "$y64"
    task raises 'import torch
class Model(torch.nn.Module):
    def forward(self, x):
        raise ValueError("never")
' "$x64" "$y64"
    task random 'import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + torch.rand_like(x)
' "$x64" "$y64"
    task other_shape 'import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.sum(0)
' "$x64" "$y64"
    task other_input 'import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x
' '[{"kind": "file"}]' "$y64"
    task large 'import torch
' "$x64" '[{"shape": [33554432], "dtype": "float32"}]'
    task ends 'import os
os._exit(3)
' "$x64" "$y64"
} >tasks
for name in no_model raises random other_shape other_input large ends unknown \
    relu; do
    revision $name "$here/relu_clamp.py"
done >revisions
revision relu "$here/relu_clamp.py" |
    jq -c '.language = "cuda"' >>revisions
revision relu "$here/relu_clamp.py" | jq -c 'del(.code)' >>revisions
evaluate --tasks tasks <revisions >verdicts
jq -r 'select(.kind == "verdict") | [.task, .state, .outcome, .why[],
    .note // .feedback] | join(" | ")' verdicts |
    sed -E 's/Correct\..*/Correct./'
jq -r 'select(.kind == "revision" and .state != "ok") | .why[], .note' verdicts

# A task that is none is looked at once for all its revisions.
task anew 'import os
raise ValueError(os.urandom(8).hex())
' "$x64" "$y64" >anew
for name in 1 2 3; do revision anew "$here/relu_clamp.py"; done |
    evaluate --tasks anew | jq -r 'select(.kind == "verdict") | .note' >notes
echo "$(sort -u notes | wc -l) reason for $(wc -l <notes)"

said() {
    "$@" 2>err >out || echo "exit $?"
    head -n 2 err
}
said km-evaluate --bare --json <revisions
said evaluate --tasks missing <revisions
said evaluate --tasks tasks --device maca <revisions
head -c 300 tasks >"cut"
said evaluate --tasks cut <revisions
