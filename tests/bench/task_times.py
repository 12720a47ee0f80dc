#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long the references of tasks take on the GPU of this machine.

    km-cat --json TASKS | tests/bench/task_times.py

Runs each task's Model and get_inputs as they are, moved to the GPU, with TF32
for matrix products and convolutions; one line a task: its name, the median
milliseconds of a forward (CUDA events, 20 runs after 3), peak memory in MiB.
Then the share between 0.05 and 100 ms, for which km-testgen --target gpu
chooses sizes. The sources run unconfined: only for tasks of your own.
"""
import json
import statistics
import sys
import types

import torch

LOW, HIGH = 0.05, 100.0


def moved(value):
    if isinstance(value, torch.Tensor):
        return value.cuda()
    if isinstance(value, (list, tuple)):
        return type(value)(moved(v) for v in value)
    return value


def milliseconds(source):
    module = types.ModuleType("task")
    sys.modules["task"] = module  # where dataclasses look for their types
    space = module.__dict__
    exec(compile(source, "task", "exec"), space)
    torch.manual_seed(0)
    model = space["Model"](*space["get_init_inputs"]()).cuda().eval()
    inputs = [moved(v) for v in space["get_inputs"]()]
    times = []
    with torch.no_grad():
        for i in range(23):
            start = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            start.record()
            model(*inputs)
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
    return statistics.median(times[3:])


def main():
    torch.set_default_device("cuda")  # for what a forward makes itself
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    inside, below, above, failed = 0, 0, 0, 0
    for line in sys.stdin:
        task = json.loads(line)
        if task["kind"] != "task" or task["state"] != "ok":
            continue
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        try:
            ms = milliseconds(task["source"])
        except Exception as error:
            failed += 1
            print(f"{task['name']}: {type(error).__name__}: "
                  f"{str(error)[:120]!r}", flush=True)
            continue
        inside += LOW <= ms <= HIGH
        below += ms < LOW
        above += ms > HIGH
        peak = torch.cuda.max_memory_allocated() >> 20
        print(f"{task['name']} {ms:.3f} ms {peak} MiB {task.get('checked')}",
              flush=True)
    print(f"{inside} of {inside + below + above} between {LOW} and {HIGH:g} "
          f"ms, {below} below, {above} above, {failed} did not run")


if __name__ == "__main__":
    main()
