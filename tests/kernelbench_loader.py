#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do tasks run unchanged under KernelBench's own loader?

    km-cat --json TASKS | kernelbench_loader.py CHECKOUT [N]

CHECKOUT is one of KernelBench; its load_original_model_and_inputs is taken
from src/kernelbench/eval.py as it stands there, without the rest of that file,
which needs more packages. Each of the first N tasks (all) of the stream is
loaded by it, made and run once, and must give the shapes that the record
tells. Tasks without outputs, or of more than MAX_BYTES, are passed over.
"""
import ast
import json
import os
import sys

import torch

MAX_BYTES, MAX_FLOPS = 1e9, 5e10


def upstream(checkout):
    path = os.path.join(checkout, "src", "kernelbench", "eval.py")
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read(), path)
    name = "load_original_model_and_inputs"
    tree.body = [n for n in tree.body
                 if isinstance(n, ast.FunctionDef) and n.name == name]
    space = {"torch": torch, "nn": torch.nn}
    exec(compile(tree, path, "exec"), space)
    return space[name]


def tensors(x):
    if isinstance(x, (list, tuple)):
        return [t for y in x for t in tensors(y)]
    if isinstance(x, dict):
        return tensors(list(x.values()))
    return [x] if isinstance(x, torch.Tensor) else []


def run(load, task):
    """None, or what is wrong."""
    loaded = load(task["source"], {"__name__": "task"})
    if loaded is None:
        return "it was not loaded"
    model, get_init_inputs, get_inputs = loaded
    torch.manual_seed(42)
    try:
        with torch.no_grad():
            made = model(*get_init_inputs()).eval()
            outs = tensors(made(*get_inputs()))
    except Exception as e:  # whatever a module raises
        return "%s: %s" % (type(e).__name__, e)
    want = [(o["shape"], o["dtype"]) for o in task["outputs"]]
    got = [(list(t.shape), str(t.dtype)[6:]) for t in outs]
    return None if got == want else "it gives %s, not %s" % (got, want)


def main():
    load = upstream(sys.argv[1])
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 30
    ran = failed = passed_over = 0
    for line in sys.stdin:
        task = json.loads(line)
        if (task["kind"] != "task" or task["state"] != "ok"
                or ran == limit):
            continue
        if (not task["outputs"] or task.get("bytes", 0) > MAX_BYTES
                or task.get("flops", 0) > MAX_FLOPS):
            passed_over += 1
            continue
        wrong = run(load, task)
        ran += 1
        failed += wrong is not None
        print("%s: %s" % (task["name"], wrong or "runs"))
    print("%d run, %d of them wrong, %d passed over" % (ran, failed,
                                                       passed_over))
    sys.exit(1 if failed or not ran else 0)


main()
