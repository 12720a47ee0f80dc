#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count the nn.Module classes of a git repository with Python's ast, and hold
the records of km-harvest against it.

    km-harvest --json REPO | tests/ast_count.py REPO [--min SHARE] [--notebooks]

Prints one line: classes found by ast, harvested, in both, the share of ast's
that was harvested, and how many harvested ones ast does not know. Exit 1 when
the share is below --min (0.95) or a harvested one is unknown to ast.

The count shares nothing with km-harvest: every file by itself, bases through
the file's import aliases, subclasses over all files by the last part of a
base's name. So it may count a class too many when two classes of one name are
different things, and it cannot read files that this Python refuses. With --notebooks the code cells of .ipynb files
are counted instead of .py files; cells that Python refuses are left out.
"""
import argparse
import ast
import json
import re
import subprocess
import sys
import warnings

ROOT_PACKAGES = ("torch.nn.", "torchvision.models.", "torchvision.ops.",
                 "torchaudio.models.", "torch_geometric.nn.", "timm.models.",
                 "timm.layers.")
ROOT_NAMES = ("LightningModule", "ScriptModule", "GraphModule",
              "PreTrainedModel", "FullyShardedDataParallel")
NOT_MODULES = ("Parameter", "Buffer", "UninitializedParameter",
               "UninitializedBuffer", "PackedSequence", "_Reduction",
               "_IncompatibleKeys")
OTHERS = ("flax", "haiku", "mxnet", "paddle", "tensorflow", "keras", "mlx",
          "objax", "equinox")


def git(repo, *args):
    return subprocess.run(["git", "-c", "safe.directory=*", "-C", repo, *args],
                          check=True, stdout=subprocess.PIPE).stdout


def sources(repo, rev, ends):
    for entry in git(repo, "ls-tree", "-r", "-z", rev).split(b"\0"):
        if not entry:
            continue
        head, path = entry.split(b"\t", 1)
        mode, kind, oid = head.split()
        if kind == b"blob" and mode != b"120000" and path.endswith(ends) and \
                b".ipynb_checkpoints/" not in path:
            try:
                yield path.decode(), git(repo, "cat-file", "blob",
                                         oid.decode())
            except (subprocess.CalledProcessError, UnicodeDecodeError):
                continue


def dotted(node):
    if isinstance(node, ast.Subscript):
        node = node.value
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def imports(tree):
    """Name in the file -> the dotted names it may stand for (several when the
    branches of an `if` or `try` bind it); star-imported modules."""
    names, stars = {}, []

    def bind(name, target):
        names.setdefault(name, set()).add(target)

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for a in node.names:
                top = a.name.split(".")[0]
                bind(a.asname or top, a.name if a.asname else top)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for a in node.names:
                if a.name == "*":
                    stars.append(module)
                else:
                    bind(a.asname or a.name, f"{module}.{a.name}")
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            value = dotted(node.value)  # nn = torch.nn
            if isinstance(node.targets[0], ast.Name) and value:
                bind(node.targets[0].id, value)
    return names, stars


def is_root(name):
    last = name.rsplit(".", 1)[-1]
    if last in ROOT_NAMES:
        return name.split(".")[0] not in OTHERS
    return (name.startswith(ROOT_PACKAGES) and last.lstrip("_")[:1].isupper() and
            last not in NOT_MODULES and
            not name.startswith("torch.nn.functional."))


def classes(tree):
    """(qualified name, line, bases) of every class, nested ones too."""
    stack = [(tree, "")]
    while stack:
        node, prefix = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                first = min([d.lineno for d in child.decorator_list] +
                            [child.lineno])
                bases = [b for b in map(dotted, child.bases) if b]
                yield prefix + child.name, first, bases
                stack.append((child, f"{prefix}{child.name}."))
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                stack.append((child, f"{prefix}{child.name}.<locals>."))
            else:
                stack.append((child, prefix))


def full_names(base, names, stars):
    """What BASE may stand for, aliases followed."""
    seen, todo = set(), [base]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        head, dot, rest = name.partition(".")
        todo += [t + dot + rest for t in names.get(head, ()) if t != head]
        if "." not in name and name not in names:
            seen.update(f"{star}.{name}" for star in stars)
        if len(seen) > 50:
            break
    return seen


def parse(text):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def cell_text(cell):
    text = cell.get("source", cell.get("input", ""))
    text = text if isinstance(text, str) else "".join(text)
    lines = text.splitlines()
    if parse(text) is None:  # IPython's own lines
        lines = [re.sub(r"^(\s*)([%!?].*|[\w, ]+= *[%!].*|.*\?\s*)$",
                        lambda m: m[1] + ("pass" if m[1] else ""), line)
                 for line in lines]
    return "\n".join(lines), len(lines)


def parse_notebook(raw):
    """All cells as one tree, each cell behind one line of its own."""
    try:
        book = json.loads(raw)
        sheets = book.get("worksheets") or [book]
        cells = [c for s in sheets for c in s.get("cells", [])]
    except (ValueError, AttributeError, TypeError):
        return None
    whole, line = ast.Module(body=[], type_ignores=[]), 0
    for cell in cells:
        if cell.get("cell_type") != "code":
            continue
        text, n = cell_text(cell)
        tree = parse(text)
        if tree:
            ast.increment_lineno(tree, line + 1)
            whole.body += tree.body
        line += n + 1
    return whole


def count(repo, rev, notebooks):
    every, modules, last_names = [], set(), set()
    unread = 0
    ends = (b".py", b".ipynb") if notebooks else (b".py",)
    for path, raw in sources(repo, rev, ends):
        tree = parse(raw) if path.endswith(".py") else parse_notebook(raw)
        if tree is None:
            unread += 1
            continue
        names, stars = imports(tree)
        for name, line, bases in classes(tree):
            full = [f for b in bases for f in full_names(b, names, stars)]
            every.append(((path, name), line, full))
    changed = True
    while changed:
        changed = False
        for key, line, full in every:
            if (*key, line) not in modules and any(
                    is_root(f) or f.rsplit(".", 1)[-1] in last_names
                    for f in full if f.split(".")[0] not in OTHERS):
                modules.add((*key, line))
                last_names.add(key[1].rsplit(".", 1)[-1])
                changed = True
    return {m for m in modules
            if m[0].endswith(".ipynb") == notebooks}, unread


def main():
    p = argparse.ArgumentParser()
    p.add_argument("repo")
    p.add_argument("--min", type=float, default=0.95)
    p.add_argument("--name", help="only records of this repository")
    p.add_argument("--notebooks", action="store_true")
    p.add_argument("--show", action="store_true", help="list differences")
    a = p.parse_args()
    harvested, commit = set(), None
    for text in sys.stdin:
        r = json.loads(text)
        if a.name and r.get("repo") != a.name:
            continue
        if r["kind"] == "repo":
            commit = r.get("commit")
        if r["kind"] == "module" and "harvest.parse" not in r["why"] and \
                r["path"].endswith(".ipynb") == a.notebooks:
            harvested.add((r["path"], r["name"], r["line"]))
    if not commit:
        sys.exit(f"{a.repo}: no record of a repository that was read")
    found, unread = count(a.repo, commit, a.notebooks)
    both = found & harvested
    extra = harvested - found
    share = len(both) / len(found) if found else 1.0
    print(f"ast {len(found)}, harvested {len(harvested)}, "
          f"both {len(both)}, share {share:.3f}, unknown to ast {len(extra)}, "
          f"files that ast cannot read {unread}")
    if a.show:
        for x in sorted(found - harvested):
            print("missing", *x)
        for x in sorted(extra):
            print("unknown", *x)
    return 1 if share < a.min or extra else 0


if __name__ == "__main__":
    sys.exit(main())
