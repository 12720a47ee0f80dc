# SPDX-License-Identifier: MIT
"""Do references judge their own copies right?

  identity.py TASKS [--device NAME] [--budget S] [--every N] [--from K]
              [--store FILE]

Judges a copy of each reference of a stream of tasks (of every N-th, from number
K on), which must be correct and 1.00 times as fast, and prints a table: outcome,
ratio, which configurations were dropped and why; then the totals. With a store
a run that was cut goes on where it was.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import tempfile

DROPPED_ANYWAY = ("no floating input", "no integer input",
                  "no floating parameter", "same as eval mode",
                  "train mode is tested on D1 only")


def program(name):
    build = os.environ.get("BUILD")
    return os.path.join(build, "bin", name) if build else name


def tasks_of(path):
    run = subprocess.run([program("km-cat"), "--json", path], check=True,
                         stdout=subprocess.PIPE, text=True)
    records = [json.loads(line) for line in run.stdout.splitlines()]
    return [r for r in records if r["kind"] == "task" and r["state"] == "ok"]


def revision(task):
    return {"kind": "revision", "id": "", "state": "ok", "why": [],
            "run": "identity", "program": task["name"], "task": task["id"],
            "language": "torch",
            "code": re.sub(r"\bModel\b", "ModelNew", task["source"])}


def label(task):
    if task.get("benchmark"):
        return f"{task.get('level')}/{task.get('problem')} {task['name']}"
    return task["name"]


def row(task, verdict):
    """Cells of the table, whether it is right, and its ratio."""
    time = verdict.get("time") or {}
    dropped = collections.OrderedDict()
    for c in verdict.get("correct") or []:
        why = c.get("why_not") or ""
        if c["mode"] == "eval" and why and why not in DROPPED_ANYWAY:
            dropped.setdefault(why, []).append(c["config"])
    said = "; ".join(f"{','.join(k)}: {why}" for why, k in dropped.items())
    note = verdict.get("note") or ""
    if verdict["outcome"] not in ("ok", "infrastructure"):
        note = verdict.get("feedback") or ""
    return [label(task)[:40], verdict["outcome"],
            f"{time['candidate_ns'] / 1e3:.1f}" if time else "",
            f"{time['ratio']:.4f}" if time else "",
            (f"{time['method']} x {time['slots']}" if time else ""),
            " ".join((said + " " + note).split())[:160]], time.get("ratio")


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("tasks")
    p.add_argument("--device", default="cuda")
    p.add_argument("--budget", type=float, default=5)
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--from", type=int, default=0, dest="first")
    p.add_argument("--store")
    a = p.parse_args()
    tasks = tasks_of(a.tasks)[a.first::a.every]
    by_id = {t["id"]: t for t in tasks}
    keep = ["--store", a.store] if a.store else ["--no-store"]
    outcomes, ratios = collections.Counter(), []
    print("| task | outcome | µs | ratio | how | left out |\n|" + " --- |" * 6)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "revisions")
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(revision(t)) + "\n" for t in tasks)
        with subprocess.Popen(
                [program("km-evaluate"), "--bare", "--json", *keep,
                 "--device", a.device, "--budget", str(a.budget), "--tasks",
                 a.tasks, "--input", path],
                stdout=subprocess.PIPE, text=True) as run:
            for line in run.stdout:
                verdict = json.loads(line)
                if verdict["kind"] != "verdict":
                    continue
                cells, ratio = row(by_id[verdict["task"]], verdict)
                print("| " + " | ".join(cells) + " |", flush=True)
                outcomes[verdict["outcome"]] += 1
                if ratio:
                    ratios.append(ratio)
    print(f"\n{len(tasks)} tasks: " + ", ".join(
        f"{n} {name}" for name, n in outcomes.most_common()))
    for part in (0.01, 0.02, 0.05):
        near = sum(1 for r in ratios if abs(r - 1) <= part)
        print(f"ratio within {part:.0%} of 1: {near} of {len(ratios)}")


if __name__ == "__main__":
    main()
