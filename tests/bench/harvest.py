#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Harvest, clean and import real repositories, one line each, and totals.

    BUILD=build/release tests/bench/harvest.py [--runs N] [--no-import] REPO...

ast         nn.Module classes by tests/ast_count.py, distinct names in a file
harvested   of those, by km-harvest
extra       harvested that ast does not know
alone       standalone by km-clean, duplicates and contaminated ones included
import      of those, the ones that import with torch (tests/import_check.py)
ok          what km-clean lets pass, the rest of alone being
dup, bench  duplicates, exact and near, and contaminated ones
anchor      names extracted / names whose forward runs / names by an AST count
            of the anchor, see anchor.tsv
refused     the other reasons of km-harvest and km-clean
s, MB/s     km-harvest --jobs 1 over the text of all Python files and notebooks
a           its time / (git cat-file --batch over the same blobs + the bytes
            that were parsed / speed of the parser alone)
a given     the same with the bytes that the parser was given
b           its time / git cat-file alone
ast x       time of CPython's ast.parse over the same .py files / its time
parsed      share of the bytes whose files could lead to a module
given       share of the bytes that the parser was given: without the bodies of
            most functions, comments, literals (lib/py/skim.h)

Times are CPU seconds (user and system, children included), medians of --runs
runs side by side: the machine may have other work.
"""
import argparse
import ast
import collections
import json
import math
import os
import re
import resource
import subprocess
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import ast_count  # noqa: E402

BUILD = os.environ.get("BUILD", "build/release")
HERE = os.path.dirname(os.path.abspath(__file__))


def cpu(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def seconds(command, data=None):
    start = cpu(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, input=data, check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return cpu(resource.RUSAGE_CHILDREN) - start, out.stdout


def median(values):
    return sorted(values)[len(values) // 2]


def blobs(repo):
    for entry in ast_count.git(repo, "ls-tree", "-r", "-z",
                               "HEAD").split(b"\0"):
        if not entry:
            continue
        head, path = entry.split(b"\t", 1)
        mode, kind, oid = head.split()
        if kind == b"blob" and mode != b"120000" and \
                path.endswith((b".py", b".ipynb")):
            yield path, oid


def split_batch(data):
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        parts = data[at:end].split()
        at = end + 1
        if len(parts) == 3 and parts[1] == b"blob":
            yield data[at:at + int(parts[2])]
            at += int(parts[2]) + 1


def ast_time(texts):
    total = 0.0
    for text in texts:
        start = cpu(resource.RUSAGE_SELF)
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            pass
        total += cpu(resource.RUSAGE_SELF) - start
    return total


def speed(repo, runs):
    """Medians: harvest, cat-file, parser's bytes a second, ast."""
    names = list(blobs(repo))
    every = b"".join(o + b"\n" for _, o in names)
    python = b"".join(o + b"\n" for p, o in names if p.endswith(b".py"))
    cat = ["git", "-c", "safe.directory=*", "-C", repo, "cat-file", "--batch",
           "--buffer"]
    texts = seconds(cat, python)[1]
    harvest = [f"{BUILD}/bin/km-harvest", "-q", "--any-licence", "-j1", repo]
    rows = []
    for _ in range(runs):
        h = seconds(harvest)[0]
        c = seconds(cat, every)[0]
        size, took = seconds([f"{BUILD}/bench/pyparse"], texts)[1].split()
        a = ast_time(split_batch(texts))
        rate = float(size) / max(float(took), 1e-9)
        rows.append((h, c, rate or math.inf, a))
    return [median(column) for column in zip(*rows)]


def records(data):
    for line in data.splitlines():
        yield json.loads(line)


def imported(clean):
    python = os.environ.get("KM_PYTHON", "")
    if not os.access(python, os.X_OK):
        return None
    out = subprocess.run([python, f"{HERE}/../import_check.py"], input=clean,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = re.search(rb"import: (\d+) passed, (\d+) failed", out.stdout)
    return int(found[1]) if found else 0


def anchors():
    rows = {}
    with open(f"{HERE}/anchor.tsv", encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                commit, *rest = line.rstrip("\n").split("\t")
                rows[commit] = rest
    return rows


ANCHORS = anchors()
TWINS = ("clean.duplicate", "clean.near_duplicate")


def read_harvest(repo, row):
    """Records as JSON, and what the AST count and the harvest have found."""
    data = seconds([f"{BUILD}/bin/km-harvest", "-q", "--any-licence",
                    "--json", repo])[1]
    harvested, last = set(), None
    for r in records(data):
        if r["kind"] == "repo":
            last = r
        if r["kind"] == "module":
            row["modules"] += 1
            for why in r["why"]:
                row["why " + why] += 1
            if "harvest.parse" not in r["why"]:
                harvested.add((r["path"], r["name"]))
    if not last or not last.get("commit") or "counts" not in last:
        return data, last
    found = set()
    for notebooks in (False, True):
        found |= {m[:2] for m in
                  ast_count.count(repo, last["commit"], notebooks)[0]}
    row["ast"], row["harvested"] = len(found), len(found & harvested)
    row["extra"] = len(harvested - found)
    row["bytes"] = last["counts"]["bytes"]
    row["parsed"] = last["counts"]["parsed_bytes"]
    row["given"] = last["counts"]["parser_bytes"]
    return data, last


def read_clean(harvest, row, options):
    for r in records(seconds([f"{BUILD}/bin/km-clean", "-q", "--json"],
                             harvest)[1]):
        if r["kind"] == "module":
            row["ok"] += r["state"] == "ok"
            row["dup"] += bool(set(r["why"]) & set(TWINS))
            row["bench"] += "clean.contaminated" in r["why"]
    every = seconds([f"{BUILD}/bin/km-clean", "-q", "--json", "--no-dedup",
                     "--no-decontaminate"], harvest)[1]
    for r in records(every):
        if r["kind"] == "module":
            row["alone"] += r["state"] == "ok"
            for why in r["why"]:
                row["why " + why] += (r["state"] != "ok" and
                                      not why.startswith("harvest."))
    if not options.no_import:
        row["import"] = imported(every)


def one(repo, options):
    row = collections.Counter()
    harvest, last = read_harvest(repo, row)
    if "ast" not in row:
        return repo, None
    anchor = ANCHORS.get(last["commit"][:7])
    name = anchor[0] if anchor else last["repo"]
    if name == "repo":  # the folder around tells more
        name = os.path.basename(os.path.dirname(os.path.abspath(repo)))
    read_clean(harvest, row, options)
    row["anchored"] = anchor is not None
    if anchor:
        for key, value in zip(("names", "extracted", "forward"), anchor[1:]):
            row["anchor " + key] = int(value) if value != "-" else 0
    h, c, rate, a = speed(repo, options.runs)
    row.update(s=h, cat=c, ast_s=a, parse_s=row["parsed"] / rate,
               given_s=row["given"] / rate)
    return name, row


def reasons(row):
    return " ".join(f"{k[4:].split('.')[1]}:{v}" for k, v in
                    sorted(row.items(), key=lambda x: (-x[1], x[0])
                           if x[0].startswith("why ") else (0, ""))
                    if k.startswith("why ") and v)


HEAD = ("| repository | ast | harvested | extra | alone | import | ok | dup | "
        "bench | anchor | s | MB/s | parsed | given | a | a given | b | "
        "ast x | refused |")


def show(name, row):
    share = 100 / max(row["bytes"], 1)
    h = max(row["s"], 1e-9)
    anchor = " / ".join(str(row["anchor " + k] or "-")
                        for k in ("extracted", "forward", "names"))
    print(f"| {name} | {row['ast']} | {row['harvested']} | {row['extra']} | "
          f"{row['alone']} | {row.get('import', '-')} | {row['ok']} | "
          f"{row['dup']} | {row['bench']} | "
          f"{anchor if row['anchored'] else '-'} | "
          f"{h:.2f} | {row['bytes'] / 1e6 / h:.1f} | "
          f"{row['parsed'] * share:.0f} % | {row['given'] * share:.0f} % | "
          f"{h / max(row['cat'] + row['parse_s'], 1e-9):.2f} | "
          f"{h / max(row['cat'] + row['given_s'], 1e-9):.2f} | "
          f"{h / max(row['cat'], 1e-9):.1f} | {row['ast_s'] / h:.2f} | "
          f"{reasons(row)} |", flush=True)


def summary(total):
    got = max(total["modules"], 1)
    print(f"\nharvested {100 * total['harvested'] / max(total['ast'], 1):.2f} "
          f"% of ast; standalone {100 * total['alone'] / got:.1f} % of the "
          f"modules; importable {100 * total['import'] / got:.1f} %, "
          f"{100 * total['import'] / max(total['alone'], 1):.2f} % of the "
          f"standalone ones")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--no-import", action="store_true")
    p.add_argument("repos", nargs="+")
    options = p.parse_args()
    warnings.simplefilter("ignore")
    total, listed = collections.Counter(), collections.Counter()
    print(HEAD)
    print("|" + " --- |" * HEAD.count(" |"), flush=True)
    for repo in options.repos:
        name, row = one(repo, options)
        if row is None:
            print(f"| {name} | not read |")
            continue
        show(name, row)
        for sums in (total, listed) if row["anchored"] else (total,):
            sums.update({k: v for k, v in row.items() if v is not None})
    show("together", total)
    summary(total)
    if 0 < listed["anchored"] < len(options.repos):
        print(f"\n{listed['anchored']} of them are the anchor's:")
        summary(listed)


if __name__ == "__main__":
    main()
