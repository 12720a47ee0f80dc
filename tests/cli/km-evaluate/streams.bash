# SPDX-License-Identifier: MIT
# Tasks and revisions for the cases of km-evaluate, as JSON lines.
set -euo pipefail
here=$SRC/tests/cli/km-evaluate/candidates

need_torch() {
    if [ -z "${KM_PYTHON:-}" ] || ! "$KM_PYTHON" -c 'import torch' 2>/dev/null
    then
        echo "no Python with torch"
        exit 77
    fi
}

# task ID SOURCE INPUTS OUTPUTS [MORE]: the last three are JSON.
task() {
    jq -cn --arg id "$1" --arg source "$2" --argjson inputs "$3" \
        --argjson outputs "$4" --argjson more "${5:-{\}}" \
        '{kind: "task", id: $id, state: "ok", why: [], name: $id,
          entry_kind: "module", source: $source, inputs: $inputs, init: [],
          outputs: $outputs, dtype: "fp32", verified: true} + $more'
}

x64='[{"name": "x", "kind": "tensor", "shape": [64, 64], "dtype": "float32",
       "dist": "uniform", "lo": 0, "hi": 1}]'
y64='[{"shape": [64, 64], "dtype": "float32", "compare": "close"}]'

relu_task() {
    task relu 'import torch
import torch.nn as nn


class Model(nn.Module):
    """ReLU."""

    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.rand(64, 64)]


def get_init_inputs():
    return []
' "$x64" "$y64"
}

linear_task() {
    task linear 'import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(64, 32)

    def forward(self, x):
        return self.lin(x)


def get_inputs():
    return [torch.rand(64, 64)]


def get_init_inputs():
    return []
' "$x64" '[{"shape": [64, 32], "dtype": "float32", "compare": "close"}]'
}

# revision TASK FILE: language by the ending, program by the name.
revision() {
    local language=torch name=${2##*/}
    case "${name##*.}" in
    c) language=c ;;
    cu) language=cuda ;;
    esac
    jq -cRs --arg task "$1" --arg language "$language" \
        --arg program "${name%.*}" \
        '{kind: "revision", id: "", state: "ok", why: [], task: $task,
          run: "test", program: $program, language: $language, code: .}' "$2"
}

# Program, outcome, and codes of findings: all that the source tells, and of
# what was seen at run time those of grade forbid (early_done and threads are
# one: which of them is seen first is chance).
outcomes() {
    jq -r 'select(.kind == "revision" or .kind == "verdict")
        | if .kind == "revision" then .program
        else " " + .outcome
        + (if .state == "ok" then "" else " " + (.why | join(",")) end)
        + ([.findings // [] | .[]
            | select(.grade == "forbid" or (.source == "static" and
                                            .grade == "suspect"))
            | .grade + ":" + if .code == "early_done" then "threads"
                             else .code end]
           | unique | map(" " + .) | join(""))
        end' | paste -d '' - -
}

evaluate() {
    km-evaluate --bare --json --no-store --budget 0.2 "$@"
}
