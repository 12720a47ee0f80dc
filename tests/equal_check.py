#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the sources of km-clean compute what the repository's own classes do?

    km-testgen --json <CLEANED | equal_check.py WORKTREE [ROOT...]

For each task that comes from a file of WORKTREE (a checkout of the commit; the
packages it needs must be there) the original class is imported, below one of
the folders ROOT, made with the arguments of the task's module and given its
parameters. Both must have the same parameters by name and shape, and give the
same bits. What cannot be imported or run is counted with its reason.
"""
import collections
import importlib
import json
import os
import random
import sys
import types
import warnings

import numpy
import torch

MAX_BYTES, MAX_FLOPS = 4e8, 2e10  # of a task that is run


def original(path, name, roots):
    if path.endswith("/__init__.py"):
        path = path[:-len("/__init__.py")] + ".py"
    error = None
    for root in roots:
        prefix = root.strip("/") + "/" if root else ""
        if not path.startswith(prefix):
            continue
        try:
            x = importlib.import_module(
                path[len(prefix):-3].replace("/", "."))
            for part in name.split("."):
                x = getattr(x, part)
            return x
        except Exception as e:  # whatever a module raises
            error = e
    raise error or ImportError("no such root")


def tensors(x):
    if isinstance(x, torch.Tensor):
        return [x]
    if isinstance(x, dict):
        x = list(x.values())
    elif hasattr(x, "__dict__"):
        x = list(vars(x).values())
    if not isinstance(x, (list, tuple)):
        return []
    return [t for part in x for t in tensors(part)]


def split(args):
    """[args, kwargs], or a flat list of arguments."""
    if len(args) == 2 and isinstance(args[0], list) and \
            isinstance(args[1], dict):
        return args
    return args, {}


def seed(n):
    random.seed(n)
    numpy.random.seed(n)
    torch.manual_seed(n)


def make(cls, args, kwargs):
    seed(0)
    return cls(*args, **kwargs).eval()


def run(module, ns):
    seed(2)
    args, kwargs = split(ns["get_inputs"]())
    seed(1)
    with torch.no_grad():
        return tensors(module(*args, **kwargs))


def cleaned(task):
    """The task's namespace, its module, and what its class was made with."""
    module = types.ModuleType("cleaned")
    sys.modules["cleaned"] = module
    ns = vars(module)
    exec(compile(task["source"], "cleaned", "exec"), ns)
    model, calls = ns["Model"], []
    base = model.__mro__[1]
    init = base.__init__

    def spy(self, *args, **kwargs):
        if not calls:
            calls.append((args, kwargs))
        init(self, *args, **kwargs)

    base.__init__ = spy
    try:
        made = make(model, *split(ns["get_init_inputs"]()))
    finally:
        base.__init__ = init
    return ns, made, calls[0]


def shapes(module):
    return {k: tuple(v.shape) for k, v in module.state_dict().items()}


def compare(task, roots):
    ns, ours, (args, kwargs) = cleaned(task)
    a = run(ours, ns)
    try:
        cls = original(task["origin"]["path"], task["origin"]["name"], roots)
        theirs = make(cls, args, kwargs)
    except BaseException as e:
        return "not run", repr(e)
    if shapes(ours) != shapes(theirs):
        return "differ", "other parameters"
    theirs.load_state_dict(ours.state_dict())
    try:
        b = run(theirs, ns)
    except Exception as e:
        return "not run", repr(e)
    same = len(a) == len(b) and all(
        x.shape == y.shape and x.dtype == y.dtype and
        torch.equal(x.nan_to_num(), y.nan_to_num()) for x, y in zip(a, b))
    return ("same", "") if same else ("differ", "other results")


def main():
    worktree, roots = sys.argv[1], sys.argv[2:] or [""]
    warnings.simplefilter("ignore")
    for root in reversed(roots):
        sys.path.insert(0, os.path.join(worktree, root))
    counts, reasons = collections.Counter(), collections.Counter()
    for line in sys.stdin:
        task = json.loads(line)
        if task["kind"] != "task" or task["state"] != "ok" or \
                not os.path.exists(f"{worktree}/{task['origin']['path']}") or \
                task["bytes"] > MAX_BYTES or task["flops"] > MAX_FLOPS:
            continue
        try:
            what, why = compare(task, roots)
        except Exception as e:
            what, why = "differ", f"the task fails: {e!r}"
        counts[what] += 1
        if what == "differ":
            print(f"{task['origin']['path']}: {task['name']}: {why}")
        elif why:
            reasons[why[:100]] += 1
    for why, n in reasons.most_common(10):
        print(f"{n} not run: {why}")
    print("equal: " + ", ".join(f"{counts[k]} {k}"
                                for k in ("same", "differ", "not run")))
    sys.exit(counts["differ"] > 0)


if __name__ == "__main__":
    main()
