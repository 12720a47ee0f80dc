# SPDX-License-Identifier: MIT
"""How much verdicts of one candidate differ between fresh runs.

  repeat.py [--device NAME] [--runs N] [--budget S] [--only NAME,...]

Judges a copy of each reference, from 2 microseconds to some milliseconds on a
large GPU, in N runs of km-evaluate without a store, and prints a table:
the mean ratio (1 is right) and time, and their coefficients of variation.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F


class %s(nn.Module):
    def __init__(self):
        super().__init__()
        %s

    def forward(self, %s):
        return %s
"""
# name: constructor, forward, shapes of inputs, shape of the output
KERNELS = {
    "relu_64k": ("pass", "torch.relu(x)", [[256, 256]], [256, 256]),
    "product_512": ("pass", "x @ y", [[512, 512], [512, 512]], [512, 512]),
    "layer_norm": ("self.n = nn.LayerNorm(1024)", "self.n(x)", [[4096, 1024]],
                   [4096, 1024]),
    "convolution": ("self.c = nn.Conv2d(64, 64, 3, padding=1)",
                    "F.relu(self.c(x))", [[8, 64, 56, 56]], [8, 64, 56, 56]),
    "softmax": ("pass", "torch.softmax(x, 1)", [[4096, 4096]], [4096, 4096]),
    "product_2048": ("pass", "x @ y", [[2048, 2048], [2048, 2048]],
                     [2048, 2048]),
    "product_3072": ("pass", "x @ y", [[3072, 3072], [3072, 3072]],
                     [3072, 3072]),
    "layers_40": ("self.s = nn.Sequential(*[nn.Linear(2048, 2048)"
                  " for _ in range(40)])", "self.s(x)", [[2048, 2048]],
                  [2048, 2048]),
}


def records(names):
    tasks, revisions = [], []
    for name in names:
        init, forward, ins, out = KERNELS[name]
        args = ", ".join("xy"[:len(ins)])
        tasks.append({
            "kind": "task", "id": name, "state": "ok", "why": [], "name": name,
            "entry_kind": "module", "init": [], "dtype": "fp32",
            "verified": True, "source": HEAD % ("Model", init, args, forward),
            "inputs": [{"name": n, "kind": "tensor", "shape": s,
                        "dtype": "float32", "dist": "normal"}
                       for n, s in zip("xy", ins)],
            "outputs": [{"shape": out, "dtype": "float32",
                         "compare": "close"}]})
        revisions.append({
            "kind": "revision", "id": "", "state": "ok", "why": [],
            "run": "repeat", "program": name, "task": name,
            "language": "torch",
            "code": HEAD % ("ModelNew", init, args, forward)})
    return tasks, revisions


def judge(folder, device, budget):
    """{name: verdict} of one run."""
    out = os.path.join(folder, "verdicts")
    build = os.environ.get("BUILD")
    program = os.path.join(build, "bin", "km-evaluate") if build else "km-evaluate"
    subprocess.run([program, "--bare", "--json", "--no-store",
                    "--device", device, "--budget", str(budget), "--tasks",
                    os.path.join(folder, "tasks"), "--input",
                    os.path.join(folder, "revisions"), "--output", out],
                   check=True)
    found, name = {}, None
    with open(out, encoding="utf-8") as f:
        for line in f:
            r = json.loads(line)
            if r["kind"] == "revision":
                name = r["program"]
            elif r["kind"] == "verdict":
                found[name] = r
    return found


def variation(values):
    """Standard deviation over mean, in per cent."""
    if len(values) < 2:
        return float("nan")
    return 100 * statistics.stdev(values) / statistics.mean(values)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--device", default="cuda")
    p.add_argument("--runs", type=int, default=10)
    p.add_argument("--budget", type=float, default=20)
    p.add_argument("--only", default=",".join(KERNELS))
    a = p.parse_args()
    names = a.only.split(",")
    for name in names:
        if name not in KERNELS:
            p.error(f"no kernel '{name}': there are {', '.join(KERNELS)}")
    seen = {n: [] for n in names}
    with tempfile.TemporaryDirectory() as folder:
        for name, list_ in zip(("tasks", "revisions"), records(names)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.writelines(json.dumps(r) + "\n" for r in list_)
        for _ in range(a.runs):
            for name, v in judge(folder, a.device, a.budget).items():
                if v.get("time"):
                    seen[name].append(v["time"])
                else:
                    print(f"{name}: {v['outcome']} {v.get('note', '')}")
    print("| kernel | runs | time, µs | its variation | ratio | its variation |"
          " furthest from 1 | slots | method |\n|" + " --- |" * 9)
    for name, times in seen.items():
        if not times:
            continue
        ns = [t["candidate_ns"] for t in times]
        ratio = [t["ratio"] for t in times]
        print(f"| {name} | {len(times)} | {statistics.mean(ns) / 1e3:.2f} |"
              f" {variation(ns):.2f} % | {statistics.mean(ratio):.4f} |"
              f" {variation(ratio):.2f} % |"
              f" {max(abs(r - 1) for r in ratio) * 100:.2f} % |"
              f" {times[0]['slots']} | {times[0]['method']} |")


if __name__ == "__main__":
    main()
