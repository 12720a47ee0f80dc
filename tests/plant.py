#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Variants of the problems of a benchmark as JSON lines for km-clean --bare, to see
which ones decontamination finds, as tests/bench/recall.sh does: tests/plant.py KERNELBENCH/KernelBench VARIANT
VARIANT is one of: copy, formatted, commented, renamed, reordered, constants,
all. Each problem becomes a repository of its own with one module.
"""
import ast
import json
import os
import random
import re
import sys

KEEP = {"forward", "self", "get_inputs", "get_init_inputs"}


class Rename(ast.NodeTransformer):
    """Locals, parameters, attributes of self, methods and the class."""

    def __init__(self, tree):
        self.names, self.attributes, self.methods = {}, {}, set()
        for node in ast.walk(tree):
            if isinstance(node, ast.arg):
                self.local(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.local(node.id)
            elif isinstance(node, ast.ClassDef):
                self.names[node.name] = "Net%d" % len(self.names)
                for part in node.body:
                    if isinstance(part, ast.FunctionDef):
                        self.attribute(part.name)
                        self.methods.add(part.name)
                    elif isinstance(part, ast.Assign):
                        KEEP.update(t.id for t in part.targets)
            elif (isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
                    and getattr(node.value, "id", "") == "self"):
                self.attribute(node.attr)

    def local(self, name):
        if name not in KEEP:
            self.names.setdefault(name, "v%d" % len(self.names))

    def attribute(self, name):
        if name not in KEEP and not name.startswith("__"):
            self.attributes.setdefault(name, "part%d" % len(self.attributes))

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node):
        node.arg = self.names.get(node.arg, node.arg)
        return self.generic_visit(node)

    def visit_Call(self, node):
        """Keywords of the source's own functions are parameters of theirs."""
        head = node.func
        own = (isinstance(head, ast.Name) and head.id in self.names
               or isinstance(head, ast.Attribute) and head.attr in self.methods
               and getattr(head.value, "id", "") == "self")
        for keyword in node.keywords:
            if own and keyword.arg:
                keyword.arg = self.names.get(keyword.arg, keyword.arg)
        return self.generic_visit(node)

    def visit_ClassDef(self, node):
        node.name = self.names[node.name]
        return self.generic_visit(node)

    def visit_FunctionDef(self, node):
        node.name = self.attributes.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_Attribute(self, node):
        if getattr(node.value, "id", "") == "self":
            node.attr = self.attributes.get(node.attr, node.attr)
        return self.generic_visit(node)


class Constants(ast.NodeTransformer):
    """Other numbers, where they are larger than the small ones of shapes."""

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            return node
        if isinstance(node.value, int) and abs(node.value) > 2:
            return ast.Constant(node.value + 1)
        if isinstance(node.value, float):
            return ast.Constant(node.value * 1.5)
        return node


def reads(node):
    return {ast.unparse(x) for x in ast.walk(node)
            if isinstance(x, (ast.Name, ast.Attribute))}


def reorder(tree, rng):
    """Methods in another order, and neighbouring statements of __init__ that
    make an attribute and do not need one another."""
    for cls in ast.walk(tree):
        if not isinstance(cls, ast.ClassDef):
            continue
        methods = [x for x in cls.body if isinstance(x, ast.FunctionDef)]
        rest = [x for x in cls.body if not isinstance(x, ast.FunctionDef)]
        cls.body = rest + methods[::-1]
        for method in methods:
            if method.name != "__init__":
                continue
            body = method.body
            for i in range(len(body) - 1):
                a, b = body[i], body[i + 1]
                if not (isinstance(a, ast.Assign) and isinstance(b, ast.Assign)):
                    continue
                made = {ast.unparse(t) for t in a.targets}
                also = {ast.unparse(t) for t in b.targets}
                if not made & reads(b.value) and not also & reads(a.value):
                    body[i], body[i + 1] = b, a


def comment(text):
    """Docstrings of other words, comments at the ends of lines."""
    text = re.sub(r"(?m)^( *)((?:class|def) .*:)$",
                  r'\1\2\n\1    """Words that were not there before."""', text)
    return re.sub(r"(?m)^( +\w.*[\w)])$", r"\1  # noted", text)


def variant(source, kind, rng):
    if kind == "copy":
        return source
    tree = ast.parse(source)
    for node in ast.walk(tree):  # docstrings
        body = getattr(node, "body", None)
        if (isinstance(body, list) and len(body) > 1 and isinstance(body[0], ast.Expr)
                and isinstance(body[0].value, ast.Constant)):
            del body[0]
    if kind in ("renamed", "all"):
        tree = Rename(tree).visit(tree)
    if kind in ("reordered", "all"):
        reorder(tree, rng)
    if kind in ("constants", "all"):
        tree = Constants().visit(tree)
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return comment(text) if kind in ("commented", "all") else text


def put(**record):
    record = {"state": "ok", "why": [], "commit": "0" * 40, **record}
    sys.stdout.write(json.dumps(record) + "\n")


def main():
    root, kind = sys.argv[1:]
    rng = random.Random(1)
    licence = {"spdx": "MIT", "evidence": "LICENSE"}
    paths = sorted(os.path.relpath(os.path.join(d, f), root)
                   for d, _, files in os.walk(root) for f in files if f.endswith(".py"))
    for n, path in enumerate(paths):
        with open(os.path.join(root, path), encoding="utf-8") as f:
            source = f.read()
        text = variant(source, kind, rng)
        names = [x.name for x in ast.parse(source).body if isinstance(x, ast.ClassDef)]
        classes = [x for x in ast.parse(text).body if isinstance(x, ast.ClassDef)]
        entry = classes[names.index("Model")]
        blob, where = "%040d" % n, path.replace("/", "_")
        put(kind="file", repo=path, path=where, blob=blob, source=text, licence=licence)
        put(kind="module", repo=path, path=where, blob=blob, name=entry.name,
            line=entry.lineno, end_line=entry.end_lineno, bases=[], licence=licence)
        put(kind="repo", repo=path)


main()
