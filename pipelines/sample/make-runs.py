#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the sample's search runs from their readable sources.

    make-runs.py [OUTPUT]        default: the folder of this script

reads src/RUN/run.json and src/RUN/*.{c,py}, writes runs/RUN/task.json,
runs/RUN/checkpoints/checkpoint_N/{metadata.json,programs/ID.json} in the form
that OpenEvolve writes, and expected.json. Same sources, same bytes: ids and
times follow from names and iterations. Standard library only.
"""
import difflib
import json
import re
import shutil
import sys
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
START = 1_760_000_000.0  # time of every seed
INTERVAL = 5  # iterations between two checkpoints
ISLANDS = 2
SYSTEM = (
    "You improve small compute kernels. A kernel must give what the reference "
    "gives for every input and should take less time."
)
BLOCK = re.compile(r"<<<<<<< SEARCH\n(.*?)=======\n(.*?)>>>>>>> REPLACE", re.S)


def apply_diff(code, reply):
    """What OpenEvolve does with SEARCH/REPLACE blocks."""
    lines = code.split("\n")
    for search, replace in BLOCK.findall(reply):
        wanted = search.rstrip().split("\n")
        for i in range(len(lines) - len(wanted) + 1):
            if lines[i : i + len(wanted)] == wanted:
                lines[i : i + len(wanted)] = replace.rstrip().split("\n")
                break
    return "\n".join(lines)


def apply_full(reply, tag):
    return re.findall(r"```" + tag + r"\n(.*?)```", reply, re.S)[0].strip()


def block(search, replace):
    return (
        "<<<<<<< SEARCH\n"
        + "\n".join(search)
        + "\n=======\n"
        + "\n".join(replace)
        + "\n>>>>>>> REPLACE"
    )


def make_diff(parent, child):
    """Blocks that turn PARENT into CHILD, each with a line of context."""
    a, b = parent.split("\n"), child.split("\n")
    blocks = []
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    for group in matcher.get_grouped_opcodes(2):
        a0, a1, b0, b1 = group[0][1], group[-1][2], group[0][3], group[-1][4]
        blocks.append((a[a0:a1], b[b0:b1]))
    return blocks


def diff_summary(blocks):
    out = []
    for i, (search, replace) in enumerate(blocks):
        if len(search) == 1 and len(replace) == 1:
            text = f"'{search[0].strip()}' to '{replace[0].strip()}'"
        else:
            text = "Replace:\n{}\nwith:\n{}".format(
                "\n".join("  " + s.rstrip() for s in search),
                "\n".join("  " + s.rstrip() for s in replace),
            )
        out.append(f"Change {i + 1}: {text}")
    return "\n".join(out)


def program_id(run, name):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"kernelmill-sample/{run}/{name}"))


def metrics_of(p):
    if p.get("score") is None:
        return {"combined_score": 0.0, "error": p["error"]}
    return {"combined_score": p["score"], "speedup": p["score"]}


def prompt_text(run, parent, kind, leaked):
    tag = run["language"]
    text = [
        f"# Reference\nThe module {run['task']}.",
        f"# Current program (score {parent['metrics']['combined_score']})\n"
        f"```{tag}\n{parent['code'].rstrip()}\n```",
    ]
    if leaked is not None:
        text.append(f"# Best program so far\n```{tag}\n{leaked.rstrip()}\n```")
    if kind == "diff":
        text.append("# Task\nMake it faster. Answer with SEARCH/REPLACE blocks.")
    else:
        text.append("# Task\nMake it faster. Answer with the whole program.")
    return "\n\n".join(text)


def make_program(run_name, run, i, p, done):
    """One program record; DONE holds the earlier ones by name."""
    tag = run["language"]
    suffix = ".c" if tag == "c" else ".py"
    path = HERE / "src" / run_name / (p["name"] + suffix)
    source = path.read_text() if p["expect"] != "noop" else None
    parent = done.get(p["parent"]) if p.get("parent") else None
    changes, prompts = None, None
    if parent is None:
        code = source
    else:
        kind = p["reply"]
        if kind == "full":
            reply = f"{p['words']}\n\n```{tag}\n{source.rstrip()}\n```\n"
            code, changes = apply_full(reply, tag), "Full rewrite"
        else:
            if source is None:
                blocks = [(p["search"].split("\n"), p["replace"].split("\n"))]
            else:
                wanted = source.rstrip() + "\n" * parent["code"].endswith("\n")
                blocks = make_diff(parent["code"], wanted)
            body = "\n\n".join(block(s, r) for s, r in blocks)
            reply = f"{p['words']}\n\n{body}\n"
            code, changes = apply_diff(parent["code"], reply), diff_summary(blocks)
        if source is None and code != parent["code"]:
            sys.exit(f"{path}: the reply was meant to match nothing")
        if source is not None and code.rstrip() != source.rstrip():
            sys.exit(f"{path}: the reply does not give the source")
        user = prompt_text(run, parent, kind, source if p.get("leak") else None)
        key = "diff_user" if kind == "diff" else "full_rewrite_user"
        prompts = {key: {"system": SYSTEM, "user": user, "responses": [reply]}}
    metadata = {}
    if parent is not None:
        metadata = {"changes": changes, "parent_metrics": parent["metrics"]}
    metadata["island"] = i % ISLANDS if parent is None else parent["metadata"]["island"]
    return {
        "id": program_id(run_name, p["name"]),
        "code": code,
        "changes_description": None,
        "language": tag,
        "parent_id": parent["id"] if parent else None,
        "generation": parent["generation"] + 1 if parent else 0,
        "timestamp": START + 41.25 * i,
        "iteration_found": i,
        "metrics": metrics_of(p),
        "complexity": 0.0,
        "diversity": 0.0,
        "metadata": metadata,
        "prompts": prompts,
        "artifacts_json": None,
        "artifact_dir": None,
        "embedding": None,
    }


def make_migrant(run_name, m, original):
    """A copy on another island, with what it inherits and what it loses."""
    metadata = dict(original["metadata"], island=m["island"], migrant=True)
    return dict(
        original,
        id=program_id(run_name, f"migrant of {m['of']}"),
        parent_id=original["id"],
        timestamp=START + 41.25 * m["iteration"] + 1.5,
        iteration_found=0,
        metadata=metadata,
        prompts=None,
    )


def snapshot_metadata(programs, iteration):
    def score(q):
        return q["metrics"]["combined_score"]

    islands = [
        [q for q in programs if q["metadata"]["island"] == i] for i in range(ISLANDS)
    ]
    best = max(programs, key=score)
    lengths = [float(len(q["code"])) for q in programs]
    return {
        "island_feature_maps": [
            {f"{n}-{i}": q["id"] for n, q in enumerate(island)}
            for i, island in enumerate(islands)
        ],
        "islands": [[q["id"] for q in island] for island in islands],
        "archive": [q["id"] for q in programs if score(q) > 0],
        "best_program_id": best["id"],
        "island_best_programs": [
            max(island, key=score)["id"] if island else None for island in islands
        ],
        "last_iteration": iteration,
        "current_island": 0,
        "island_generations": [len(island) for island in islands],
        "last_migration_generation": 0,
        "feature_stats": {
            "complexity": {
                "min": min(lengths),
                "max": max(lengths),
                "values": lengths,
            }
        },
    }


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def write_run(out, name, run, expected):
    done, evicted = {}, set()
    for i, p in enumerate(run["programs"]):
        q = make_program(name, run, i, p, done)
        done[p["name"]] = q
        if p.get("evicted"):
            evicted.add(q["id"])
        entry = {"run": name, "name": p["name"], "program": q["id"]}
        entry["language"] = "c" if run["language"] == "c" else "torch"
        entry["expect"] = p["expect"]
        if "cheat" in p:
            entry["cheat"] = p["cheat"]
        expected.append(entry)
    programs = list(done.values())
    for m in run.get("migrants", []):
        q = make_migrant(name, m, done[m["of"]])
        programs.append(q)
        expected.append(
            {
                "run": name,
                "name": f"migrant of {m['of']}",
                "program": q["id"],
                "language": "c" if run["language"] == "c" else "torch",
                "expect": "migrant",
            }
        )
    write_json(out / "runs" / name / "task.json", {"name": run["task"]})
    last = len(done) - 1
    marks = list(range(INTERVAL, last, INTERVAL)) + [last]
    for mark in marks:
        limit = START + 41.25 * mark + 2
        kept = [
            q
            for q in programs
            if q["timestamp"] <= limit
            and not (q["id"] in evicted and mark > marks[0])
        ]
        folder = out / "runs" / name / "checkpoints" / f"checkpoint_{mark}"
        for q in kept:
            write_json(folder / "programs" / (q["id"] + ".json"), q)
        write_json(folder / "metadata.json", snapshot_metadata(kept, mark))


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    shutil.rmtree(out / "runs", ignore_errors=True)
    expected = []
    for path in sorted((HERE / "src").glob("*/run.json")):
        write_run(out, path.parent.name, json.loads(path.read_text()), expected)
    lines = ",\n".join(json.dumps(e) for e in expected)
    (out / "expected.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
