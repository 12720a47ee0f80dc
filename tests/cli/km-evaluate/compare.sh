# SPDX-License-Identifier: MIT
# --compare: a run folder of KernelBench, judged again and held against what its
# eval_results.json says.
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
place() { # PROBLEM
    jq -cn --argjson p "$1" '{benchmark: "kernelbench", level: 1, problem: $p}'
}
{
    relu_task | jq -c --argjson place "$(place 19)" '. + $place'
    linear_task | jq -c --argjson place "$(place 2)" '. + $place'
} >tasks

mkdir -p runs/one
run=runs/one
kernel() { cat >"$run/level_1_problem_$1_sample_$2_kernel.py"; }
kernel 19 0 <"$here/relu_clamp.py"
kernel 19 1 <"$here/relu_identity.py"
kernel 19 2 <"$here/relu_constant.py"
kernel 19 10 <<<'def broken(:'
kernel 2 0 <<'EOF'
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(64, 32)

    def forward(self, x):
        raise ValueError("never")
EOF
kernel 2 1 <<'EOF'
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(64, 32)

    def forward(self, x):
        return torch.addmm(self.lin.bias, x, self.lin.weight.t())
EOF
kernel 7 0 <"$here/relu_clamp.py"
# Not read, each for its reason.
ln -s /etc/passwd "$run/level_1_problem_2_sample_3_kernel.py"
mkfifo "$run/level_1_problem_2_sample_4_kernel.py"
head -c 1100000 /dev/zero | tr '\0' '#' | kernel 2 5
printf '\377' | kernel 2 6
kernel 019 0 </dev/null
: >"$run/problem_1_kernel.py"
cat >"$run/eval_results.json" <<'EOF'
{"19": [
  {"sample_id": 0, "compiled": true, "correctness": true, "metadata": {},
   "runtime": 0.5, "runtime_stats": {}},
  {"sample_id": 1, "compiled": true, "correctness": true, "metadata": {}},
  {"sample_id": 2, "compiled": true, "correctness": false,
   "metadata": {"correctness_issue": "Output mismatch"}},
  {"sample_id": 10, "compiled": false, "correctness": false, "metadata":
   {"compilation_error": "Syntax error in custom generated code"}}],
 "2": [
  {"sample_id": 0, "compiled": true, "correctness": false,
   "metadata": {"runtime_error": "never"}},
  {"sample_id": 1, "compiled": true, "correctness": false, "runtime": 2.5,
   "metadata": {"runtime_error": "CUDA out of memory\nby others"}}],
 "5": [{"sample_id": 0, "compiled": true, "correctness": true}],
 "7": [{"sample_id": 0, "compiled": true, "correctness": true}],
 "eight": []}
EOF

# Nothing is read from stdin.
evaluate --tasks tasks --compare $run <&- >verdicts 2>err
sed -E 's/[0-9.]+ ms here/N ms here/' err
echo "== stream"
jq -r 'select(.kind == "revision") | [.run, .program, .task, .sample, .state,
    (.recorded | tojson), .note // ""] | join(" | ")' verdicts

echo "== by the file, under kernelbench"
(
    cd $run
    evaluate --tasks ../../tasks --profile kernelbench \
        --compare eval_results.json 2>&1 >/dev/null |
        grep -A 9 disagree | sed -E 's/[0-9.]+ ms here/N ms here/'
)

said() {
    echo "== $1"
    shift
    "$@" 2>err >out || echo "exit $?"
    head -n 2 err
}
said 'a stream beside it' evaluate --tasks tasks --compare $run -i tasks
said 'no folder' evaluate --tasks tasks --compare runs/two
mkdir runs/two
said 'no results' evaluate --tasks tasks --compare runs/two
ln -s ../one/eval_results.json runs/two/
said 'results elsewhere' evaluate --tasks tasks --compare runs/two
rm runs/two/eval_results.json
echo '[]' >runs/two/eval_results.json
said 'no map' evaluate --tasks tasks --compare runs/two/
echo '{}' >runs/two/eval_results.json
said 'nothing' evaluate --tasks tasks --compare runs/two/
: >runs/two/level_1_problem_1_sample_0_kernel.py
: >runs/two/level_2_problem_1_sample_0_kernel.py
said 'two levels' evaluate --tasks tasks --compare runs/two/.
