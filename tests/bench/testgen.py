#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tasks from the modules of real repositories, one line each, and totals.

    BUILD=build/release tests/bench/testgen.py [--every N] [--jobs N] REPO...

All columns count distinct names of classes in a repository, as the anchor does:
a name counts when any of its definitions does.

names     harvested (in the sample)
alone     standalone by km-clean
run       built, and forward ran, in the sandbox
good      passed the quality gate: a task (none has a mock)
real      tasks with a dimension over 64 in an input
anchor    names whose forward runs / good without mocks / names by an AST count
          of the anchor, see anchor.tsv
modules   definitions that km-testgen was given
cpu       seconds of km-testgen's processes for one of them
minutes   wall-clock time of km-testgen

--every N takes one name of N, by its hash; then modules are not seen together
with those that hold them, so that less is found. Duplicates and what is a
benchmark's are kept. The store is not used.
"""
import argparse
import collections
import hashlib
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harvest  # noqa: E402

BUILD = harvest.BUILD


def program(name):
    return os.path.join(BUILD, "bin", name)


def taken(name, every):
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:4], "big") % every == 0


def short(record):
    """Name of the class alone, as the anchor counts them."""
    return record["name"].rsplit(".", 1)[-1]


def modules(repo, every):
    """Cleaned module records of a repository, those of the sample, and its
    commit."""
    found = subprocess.run([program("km-harvest"), "-q", "--any-licence", repo],
                           check=True, stdout=subprocess.PIPE).stdout
    lines = subprocess.run(
        [program("km-clean"), "-q", "--json", "--no-dedup",
         "--no-decontaminate"], check=True, input=found,
        stdout=subprocess.PIPE).stdout.splitlines()
    out, commit = [], ""
    for line in lines:
        record = json.loads(line)
        commit = record.get("commit", commit)
        if record["kind"] == "module" and taken(short(record), every):
            out.append((record, line))
    return out, commit


def widest(value):
    """The largest dimension of the tensors of an input."""
    if isinstance(value, list):
        return max([0] + [widest(v) for v in value])
    return max([0] + value.get("shape", []) + [widest(value.get("items", []))])


def reason(record):
    """A failure without its numbers and names."""
    note = re.sub(r"^(timeout: )?\w+, line \d+: ", "", record.get("note") or "")
    note = re.sub(r"\(\d+ attempts\)", "", note)
    note = re.sub(r"'[^']*'|\"[^\"]*\"|\[[^]]*\]|-?\d+", "_", note)
    return record["why"][0] + ": " + note[:70].strip()


def run(repo, every, jobs):
    given, commit = modules(repo, every)
    names = {short(r) for r, _ in given}
    alone = {short(r) for r, _ in given if r["state"] == "ok"}
    start = time.monotonic()
    done = subprocess.run(
        [program("km-testgen"), "-v", "--bare", "--json", "--no-store", "-j",
         str(jobs)], check=True, input=b"\n".join(l for _, l in given) + b"\n",
        capture_output=True)
    wall = time.monotonic() - start
    cpu = sum(float(x) for x in re.findall(rb"([0-9.]+) s of CPU", done.stderr))
    out = done.stdout
    ran, good, real, why = set(), set(), set(), collections.Counter()
    for line in out.splitlines():
        r = json.loads(line)
        if r["kind"] == "task":
            name = short(r["origin"])
            ran.add(name)
            good.add(name)
            if widest(r["inputs"]) > 64:
                real.add(name)
        elif r["kind"] == "module" and r["why"]:
            if r["why"][0] == "testgen.quality":
                ran.add(short(r))
            if r["why"][0].startswith("testgen."):
                why[reason(r)] += 1
    n = sum(r["state"] == "ok" for r, _ in given)
    row = {"names": len(names), "alone": len(alone), "run": len(ran),
           "good": len(good), "real": len(real), "modules": n, "cpu": cpu,
           "wall": wall}
    return row, why, harvest.ANCHORS.get(commit[:7])


def line(title, r, anchor):
    return "| {} | {} | {} | {} | {} | {} | {} | {} | {:.2f} | {:.1f} |".format(
        title, r["names"], r["alone"], r["run"], r["good"], r["real"], anchor,
        r["modules"], r["cpu"] / max(1, r["modules"]), r["wall"] / 60)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("repos", nargs="+")
    args = parser.parse_args()
    total = collections.Counter()
    why = collections.Counter()
    print("| repository | names | alone | run | good | real | anchor | modules "
          "| cpu | minutes |")
    print("|" + " --- |" * 10)
    for repo in args.repos:
        row, reasons, anchor = run(repo, args.every, args.jobs)
        why += reasons
        total.update(row)
        print(line(anchor[0] if anchor else os.path.basename(repo), row,
                   " / ".join([anchor[3], anchor[4], anchor[1]])
                   if anchor else "-"), flush=True)
    print(line("all %d together" % len(args.repos), total, ""))
    print()
    for text, n in why.most_common(10):
        print("%5d  %s" % (n, text))


if __name__ == "__main__":
    main()
