#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the standalone sources of km-clean import?

usage: import_check.py [-t SECONDS] [-v] < modules.jsonl

Reads JSON lines (km-cat --json), runs the source of each module record in
state ok in a fresh module with torch at hand, in a forked child of its own,
and checks that its entry is an nn.Module class and that every global name
that some function reads is there. Prints every failure and a count; exit
status 1 when one failed.
"""
import argparse
import builtins
import dis
import json
import os
import signal
import sys
import types


def unbound(code, names):
    """Global names that CODE or a function in it reads and nobody binds."""
    for op in dis.get_instructions(code):
        if op.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            if op.argval not in names and not hasattr(builtins, op.argval):
                # class bodies read their own names so
                if op.opname == "LOAD_GLOBAL":
                    yield op.argval
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from unbound(const, names)


def load(record):
    import torch

    module = types.ModuleType("standalone")
    sys.modules["standalone"] = module
    code = compile(record["source"], record["name"], "exec")
    exec(code, module.__dict__)
    entry = module
    for part in record["entry"].split("."):
        entry = getattr(entry, part)
    if not (isinstance(entry, type) and issubclass(entry, torch.nn.Module)):
        raise TypeError("entry is no nn.Module class")
    missing = sorted(set(unbound(code, module.__dict__)))
    if missing:
        raise NameError("nobody binds " + ", ".join(missing))


def check(record, seconds):
    """Reason of failure, or None."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        signal.alarm(seconds)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        try:
            load(record)
            text = ""
        except BaseException as e:  # SystemExit too
            text = "%s: %s" % (type(e).__name__, e)
        os.write(write, text.encode("utf-8", "replace")[:2000])
        os._exit(1 if text else 0)
    os.close(write)
    with os.fdopen(read, "rb") as f:
        text = f.read().decode("utf-8", "replace")
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return "ended by signal %d" % os.WTERMSIG(status)
    if os.WEXITSTATUS(status):
        return text or "exit status %d" % os.WEXITSTATUS(status)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-t", "--seconds", type=int, default=20)
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    import torch  # once, before the forks

    torch.set_num_threads(1)
    good = bad = 0
    for line in sys.stdin:
        record = json.loads(line)
        if record.get("kind") != "module" or record.get("state") != "ok":
            continue
        reason = check(record, options.seconds)
        if reason is None:
            good += 1
            if options.verbose:
                print("ok", record["path"], record["name"])
        else:
            bad += 1
            print("FAILED", record["path"], record["name"] + ":", reason)
    print("import: %d passed, %d failed" % (good, bad))
    return 1 if bad or not good else 0


if __name__ == "__main__":
    sys.exit(main())
