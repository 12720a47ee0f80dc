#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print the lines of lib/py/modules.def for the Python that runs this.

    ~/.cache/kernelmill/python tests/modules_def.py [--check]

The modules inside of the packages that clean/allow.def lets sources import, but
for what lib/py/unsafe.def refuses anyway, tests of the packages, and names that
a package gives to something else. --check tells what the file lacks, and fails
when it lacks any: for a new torch.
"""
import importlib
import importlib.util
import os
import pkgutil
import re
import sys
import types
import warnings

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TESTS = {"tests", "testing", "conftest"}


def names(path, macro):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return set(re.findall(rf'^{macro}\("([^"]+)"', f.read(), re.M))


def walk(folders, prefix):
    for m in pkgutil.iter_modules(folders, prefix):
        last = m.name.rsplit(".", 1)[1]
        if last in TESTS or not last.isidentifier():
            continue
        yield m.name
        if m.ispkg:
            yield from walk([os.path.join(d, last) for d in folders],
                            m.name + ".")


def is_other(name):
    """Does the package give the name to something that is no module?"""
    package, last = name.rsplit(".", 1)
    try:
        x = getattr(importlib.import_module(package), last, None)
    except Exception:  # whatever a package raises that lacks something
        return False
    return x is not None and not isinstance(x, types.ModuleType)


def main():
    warnings.simplefilter("ignore")
    refused = names("lib/py/unsafe.def", "UNSAFE")
    known = names("lib/py/unsafe.def", "(?:PURE_)?MODULE")
    found = set()
    for package in names("clean/allow.def", "ALLOW"):
        spec = importlib.util.find_spec(package)
        if spec and spec.submodule_search_locations:
            found.update(walk(list(spec.submodule_search_locations),
                              package + "."))
    listed = sorted(
        x for x in found - known
        if not any(x[:i] in refused for i in range(len(x) + 1)
                   if i == len(x) or x[i] == ".") and not is_other(x))
    if "--check" not in sys.argv[1:]:
        print("\n".join(f'MODULE("{x}")' for x in listed))
        return
    missing = set(listed) - names("lib/py/modules.def", "MODULE")
    for x in sorted(missing):
        print(f"not in modules.def: {x}")
    print(f"modules: {len(listed) - len(missing)} passed, "
          f"{len(missing)} failed")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
