# timeout: 400
# Tasks in other people's forms. All of them are written by hand.
. "$SRC/tests/cli/km-testgen/modules.bash"
set -euo pipefail
run() { # ARGUMENT...: writes `out`, like testgen of modules.bash
    local weak=''
    km-testgen "$@" --json -j 1 >out 2>err || {
        grep -q sandbox err && weak=--allow-weak-sandbox
        km-testgen "$@" --json -j 1 $weak >out
    }
}
tell() {
    jq -c 'select(.kind == "task" and .state == "ok")' out >ok
    show ok
    jq -c 'select(.kind == "task") | if .state == "ok" then
        [.name, .verified, .benchmark, .level, .problem, .origin, .unmeasured,
         .dtype, .note, .evidence]
        else [.name, .state, .why[], .note, .origin] end' out
}

mkdir -p bench/level1 bench/.hidden
cat >bench/level1/7_Block.py <<'PY'
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, width, parts):
        super(Model, self).__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.GroupNorm(parts[0], width)

    def forward(self, x, pick):
        return self.norm(torch.relu(self.linear(x)))[pick]

def get_inputs():
    return [torch.rand(32, 64) * 2 - 1, torch.randint(0, 32, (16,))]

def get_init_inputs():
    return [64, (4, 2)]
PY
cat >bench/level1/8_Vast.py <<'PY'
import torch

class Model(torch.nn.Module):
    def forward(self, a, b, sign):
        return torch.tril(a @ b) * sign

def get_inputs():
    return [torch.tril(torch.randn(512, 512)), torch.rand(512, 1 << 28),
            torch.randint(0, 2, (512, 1)).float() * 2 - 1]

def get_init_inputs():
    return []
PY
cat >bench/pair.py <<'PY'
import torch

class Scaled(torch.nn.Module):
    def __init__(self, width, gain=1.0, *, bias=True):
        super(Scaled, self).__init__()
        self.linear = torch.nn.Linear(width, width, bias=bias)
        self.gain = gain

    def forward(self, x):
        return self.linear(x) * self.gain

def get_inputs():
    return [torch.rand([4, 8])]

def get_init_inputs():
    return [[8], {"gain": 0.5, "bias": False}]
PY
cat >bench/foreign.py <<'PY'
import transformers
class Model: pass
def get_inputs(): return []
PY
cat >bench/wrong.py <<'PY'
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x @ x
def get_inputs():
    return [torch.rand(2, 3)]
PY
cat >bench/object.py <<'PY'
import torch
class Model(torch.nn.Module):
    def __init__(self, dtype):
        super().__init__()
    def forward(self, x):
        return x + x
def get_inputs():
    return [torch.rand(2, 3)]
def get_init_inputs():
    return [torch.float32]
PY
echo 'x = 1' >bench/none.py
cp bench/pair.py bench/.hidden
echo "== KernelBench form"
run import bench --no-store --licence MIT
tell
# sources are what they were
jq -j 'select(.name == "7_Block").source' out | cmp - bench/level1/7_Block.py
jq -j 'select(.name == "8_Vast").source' out | cmp - bench/level1/8_Vast.py
jq -r 'select(.name == "pair").source' out | tail -n +17
cp out tasks

echo "== variants"
run variant --dtype bf16 --no-store -i tasks
tell
jq -r 'select(.name == "7_Block-bf16").source' out | tail -n +20
jq -rs 'map(select(.kind == "task")) |
    map(select(.state == "ok")) as $tasks | $tasks | map(.id) | unique |
    length == ($tasks | length)' out
jq -n --slurpfile t tasks --slurpfile v out '
    [$v[] | .variant_of | select(.)] - [$t[] | .id | select(.)]' -c
cp out variants
run variant --dtype fp16 --keep --no-store -i variants
jq -r 'select(.kind == "task") | .name' out
"$KM_PYTHON" - <<'PY'
import json
for line in open("variants"):
    task = json.loads(line)
    if task["kind"] != "task" or not task.get("verified"):
        continue
    space = {}
    exec(compile(task["source"], task["name"], "exec"), space)
    model = space["Model"](*space["get_init_inputs"]())
    inputs = space["get_inputs"]()
    print(task["name"], [str(t.dtype) for t in inputs],
          {str(p.dtype) for p in model.parameters()},
          model(*inputs).dtype)
PY

echo "== rows"
jq -nc --rawfile code bench/pair.py '
    {python_code: $code, entry_point: "Scaled", module_name: "Scaled",
     repo_name: "someone/project", sha: "abc", licenses: ["MIT", "BSD-2"],
     uuid: "1", triton_code: "x"},
    {data_source: "set", prompt: [], ability: "kernel",
     reward_model: {style: "rule", ground_truth: $code},
     extra_info: {entry_point: "Scaled", module_name: "Other", level: 1}},
    {ops: "[\"nn.Linear\"]", data_source: "torch#1",
     code: ($code + "Model = Scaled\n")},
    {code: "import torch\ndef get_inputs(): return []\n"},
    {code: "print(1)"}, {text: "x"}' >rows.jsonl
echo '{"code": ' >>rows.jsonl
jq -nc --rawfile code bench/level1/7_Block.py '{rows: [{row_idx: 0, row:
    {code: $code, level: 1, name: "7_Block", problem_id: 7}}]}' >page.json
run import rows.jsonl page.json --no-store
tell

echo "== definitions"
mkdir -p trace/definitions/gemm trace/workloads/gemm
jq -nc '{name: "gemm_n8_k16", op_type: "gemm",
    axes: {M: {type: "var"}, N: {type: "const", value: 8},
           K: {type: "const", value: 16}},
    inputs: {A: {shape: ["M", "K"], dtype: "float16"},
             B: {shape: ["N", "K"], dtype: "float16"},
             scale: {shape: null, dtype: "float32"}},
    outputs: {C: {shape: ["M", "N"], dtype: "float16"}},
    reference: "import torch\n\ndef run(A, B, scale):\n    return torch.matmul(A, B.T) * scale"}' \
    >trace/definitions/gemm/gemm.json
jq -nc '{definition: "gemm_n8_k16", workload: {axes: {M: 5},
    inputs: {A: {type: "safetensors"}}}},
    {definition: "gemm_n8_k16", workload: {axes: {M: 12},
    inputs: {A: {type: "random"}, B: {type: "random"},
             scale: {type: "scalar", value: 0.5}}}}' \
    >trace/workloads/gemm/gemm.jsonl
jq '.inputs.A.dtype = "float8_e4m3fn"' trace/definitions/gemm/gemm.json \
    >trace/definitions/gemm/quantised.json
run import trace/definitions --no-store
tell

echo "== a folder with a configuration"
mkdir -p robust/norm
cat >robust/norm/func_forward.py <<'PY'
import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x, weight, eps):
    return F.rms_norm(x, (x.shape[-1],), weight, eps)


class Model(nn.Module):
    def __init__(self, width, eps: float = 1e-5, init_method="ones"):
        super(Model, self).__init__()
        self.eps = eps
        draw = torch.ones if init_method == "ones" else torch.rand
        self.weight = nn.Parameter(draw(width))

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.eps)


def get_inputs(batch: int = 128, width: int = 64):
    return [torch.randn(batch, width)]


input_names = ["x"]
PY
cp bench/pair.py robust/norm
echo '{"single_input_configs": [{"batch": 4}],
  "single_init_configs": [{"init_method": "random"}],
  "single_shared_configs": [{"width": 32}]}' >robust/norm/config_forward.json
run import robust --no-store
tell
jq -r 'select(.kind == "task").source' out | tail -n +27

echo "== hostile sources"
mkdir hostile
cat >hostile/exits.py <<'PY'
import os, torch
class Model(torch.nn.Module):
    def forward(self, x): return x + 1
def get_inputs(): os._exit(0)
def get_init_inputs(): return []
PY
cat >hostile/forges.py <<'PY'
import os, torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        reply = (b"\x83\xa2ok\xc3\xa6inputs\x92\x01\xc0\xa4outs\x91\x07")
        for fd in range(3, 64):
            try:
                os.write(fd, reply)
            except OSError:
                pass
    def forward(self, x): return x + 1
def get_inputs(): return [torch.rand(3)]
def get_init_inputs(): return []
PY
cat >hostile/wide.py <<'PY'
import torch
class Model(torch.nn.Module):
    def forward(self, x): return x + 1
def get_inputs(): return [torch.rand(3)]
def get_init_inputs(): return list(range(5000))
PY
printf 'class Model: pass\n\xff\xfe def get_inputs(): pass' >hostile/bytes.py
run import hostile --no-store
jq -c 'select(.kind == "task") |
    [.name, .state, .verified, .why[], .note, .inputs, .outputs]' out

rc() { "$@" 2>&1 || echo "$?"; }
echo "== wrong use"
rc km-testgen import
rc km-testgen import absent
rc km-testgen variant </dev/null
rc km-testgen variant --dtype fp8
run import bench/none.py --no-store
tell
