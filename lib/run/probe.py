# SPDX-License-Identifier: MIT
"""
Test runs of km-testgen, inside a jailed fork of the zygote: holds one foreign
module at a time, builds it, runs its forward and reports what came out. It
decides nothing: proposals, refinement and verdicts are the C side's.

Ops (each gets one reply; a failure is {ok: false, where, class, message, ...}):

  load     {entry, threads} + fd of the source
           -> {init: [param], forward: [param]}
           param = {name, kind, has_default, annotation}; none of a function
  try      {model, inputs, cpu_s}: texts that define Model and
           get_init_inputs, and get_inputs; one construction (kept while the
           text stays the same) and one forward
           -> {ops, outs: [{shape, dtype}], limits: {input: places}}
  measure  -> {flops, moved, kernels, largest, bytes, parameters,
            ops: {name: count}, graph}
  shapes   {model, inputs}: try and measure on shapes alone, see counts.py
  gate     {cpu_s}: the quality measurements, see gate()
  watch    {class}: how the model builds and calls a class, see watch.py
  bye

try leaves model and inputs for measure and gate.
"""
import ast
import inspect
import math
import os
import random
import signal
import sys
import time
import types
import warnings

import torch
from torch.overrides import TorchFunctionMode

TAIL = "<task>"
TEXT_MAX = 700
SEEDS = (11, 22, 33)
SCALES = (1.0, 3.0, 0.01, -1.0)  # D1 to D4
EXTRA = {}  # ops of the texts behind this one: function of (probe, message)


class Deadline(BaseException):
    """Not an Exception: foreign `except Exception` must not swallow it."""


class Broken(Exception):
    """A rule of this file is not met; the text goes to the report."""


def on_alarm(signum, frame):
    raise Deadline()


def budget(seconds):
    signal.setitimer(signal.ITIMER_PROF, seconds)


def cut(text, limit=TEXT_MAX):
    text = str(text)
    return text if len(text) <= limit else text[:limit]


def seed_all(seed):
    random.seed(seed)
    # torch.manual_seed also visits every accelerator, for milliseconds.
    torch.default_generator.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)


class Clock:
    """The clocks of Python, which the gate puts forward."""

    NAMES = ("time", "monotonic", "perf_counter", "process_time")
    ahead = 0

    @classmethod
    def install(cls):
        for name in cls.NAMES:
            for name, unit in ((name, 1), (name + "_ns", 1000000000)):
                setattr(time, name, cls.of(getattr(time, name), unit))

    @classmethod
    def of(cls, inner, unit):
        return lambda: inner() + cls.ahead * unit


def flatten(value, out, depth=0):
    """Tensors in nested tuples, lists and dicts, in order; numbers become
    tensors, as in the evaluator's runner."""
    if isinstance(value, torch.Tensor):
        out.append(value)
    elif isinstance(value, (bool, int, float)):
        out.append(torch.tensor(value))
    elif value is None:
        pass
    elif isinstance(value, dict) and depth < 8:
        for item in value.values():
            flatten(item, out, depth + 1)
    elif isinstance(value, (list, tuple)) and depth < 8:
        for item in value:
            flatten(item, out, depth + 1)
    else:
        raise Broken("output of type " + type(value).__name__)
    if len(out) > 64:
        raise Broken("more than 64 output tensors")
    return out


def dtype_name(t):
    return str(t.dtype).removeprefix("torch.")


def plain(value, depth=0):
    """A value as the frames can carry it; other objects by their type."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else cut(str(value), 60)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return cut(value, 120)
    if isinstance(value, torch.Tensor):
        return {"shape": list(value.shape), "dtype": dtype_name(value)}
    if isinstance(value, (list, tuple, set, frozenset)) and depth < 2:
        return [plain(v, depth + 1) for v in list(value)[:12]]
    if isinstance(value, dict):
        return {"type": "dict",
                "keys": [plain(k, 2) for k in list(value)[:12]]}
    if isinstance(value, type):
        return {"type": "type", "name": value.__name__}
    return {"type": type(value).__name__}


class Source:
    """Statements of one text by line, for reports on failures."""

    def __init__(self, text):
        self.stmts = []
        self.parents = {}
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            return
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, ast.stmt):
                self.stmts.append(node)

    def at(self, line):
        best = None
        for s in self.stmts:
            if s.lineno <= line <= s.end_lineno and (
                    best is None or s.lineno >= best.lineno):
                best = s
        return best

    def guard(self, stmt):
        """Test of the `if` that leads to this raise, or of the assert."""
        if isinstance(stmt, ast.Assert):
            return stmt.test
        up = self.parents.get(stmt)
        if isinstance(stmt, ast.Raise) and isinstance(up, ast.If):
            return up.test
        return None


def header(stmt):
    """The expressions of a statement, without the blocks of a compound one."""
    for field, value in ast.iter_fields(stmt):
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST) and not isinstance(node, ast.stmt):
                yield node


def lookup(node, frame):
    """Value of a name or of a chain of attributes; KeyError otherwise."""
    if isinstance(node, ast.Name):
        if node.id in frame.f_locals:
            return frame.f_locals[node.id]
        return frame.f_globals[node.id]
    if isinstance(node, ast.Attribute):
        base = lookup(node.value, frame)
        if isinstance(base, (torch.nn.Module, torch.Tensor,
                             types.SimpleNamespace)):
            return getattr(base, node.attr)
    raise KeyError


def compares(test, frame):
    out = []

    def value(node):
        code = compile(ast.Expression(node), TAIL, "eval")
        return plain(eval(code, frame.f_globals, frame.f_locals))

    for node in ast.walk(test):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        try:
            item = {"op": type(node.ops[0]).__name__,
                    "l": value(node.left), "r": value(node.comparators[0]),
                    "names": names_of([node])}
            if isinstance(node.left, ast.BinOp) and isinstance(
                    node.left.op, ast.Mod):
                item["mod"] = [value(node.left.left), value(node.left.right)]
            out.append(item)
        except Exception:
            continue
    return out[:4]


def names_of(nodes):
    out = []
    for top in nodes:
        for node in ast.walk(top):
            name = node.id if isinstance(node, ast.Name) else (
                node.attr if isinstance(node, ast.Attribute) else None)
            if name and name not in out:
                out.append(name)
    return out[:24]


def describe(frame, line, source, deep):
    """One frame of the foreign source in a report."""
    out = {"line": line, "func": frame.f_code.co_name, "names": []}
    owner = frame.f_locals.get("self")
    if owner is not None:
        out["class"] = type(owner).__name__
    stmt = source.at(line)
    if stmt is None:
        return out
    nodes = list(header(stmt))
    out["names"] = names_of(nodes)
    if not deep:
        return out
    seen = []
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, (ast.Name, ast.Attribute)) and len(seen) < 16:
                try:
                    seen.append([cut(ast.unparse(node), 60),
                                 plain(lookup(node, frame))])
                except Exception:
                    continue
            elif isinstance(node, ast.Dict):
                seen.append(["{}", {"type": "dict", "keys": [
                    k.value for k in node.keys[:12]
                    if isinstance(k, ast.Constant)
                    and isinstance(k.value, (str, int))]}])
    out["vars"] = seen
    out["text"] = cut(ast.unparse(stmt) if not isinstance(
        stmt, (ast.If, ast.For, ast.While, ast.With, ast.FunctionDef,
               ast.ClassDef, ast.Try)) else "", 300)
    test = source.guard(stmt)
    if test is not None:
        out["cmp"] = compares(test, frame)
        out["names"] += names_of([test])
    return out


# Functions that look up INDEX in dimension DIM of their first argument.
ALONG = {"gather", "index_select", "scatter", "scatter_add", "scatter_reduce",
         "index_add", "index_copy", "index_fill"}


def looked_up(name, args, kwargs):
    """[(tensor of integers, how many places there are)] of a call."""
    def get(i, key):
        return args[i] if len(args) > i else kwargs.get(key)

    name = name.strip("_")
    if name in ALONG:
        return [(get(2, "index"), get(0, "input").shape[get(1, "dim")])]
    if name == "embedding":
        return [(get(0, "input"), get(1, "weight").shape[0])]
    if name in ("cross_entropy", "nll_loss"):
        shape = get(0, "input").shape
        return [(get(1, "target"), shape[min(1, len(shape) - 1)])]
    if name == "one_hot":
        return [(get(0, "tensor"), max(get(1, "num_classes") or 0, 0))]
    found = []
    if name in ("getitem", "setitem"):
        items = args[1] if isinstance(args[1], tuple) else (args[1],)
        dim = 0
        for item in items:
            if item is Ellipsis:
                break
            if isinstance(item, torch.Tensor):
                if item.dtype == torch.bool:
                    dim += item.dim() - 1
                else:
                    found.append((item, args[0].shape[dim]))
            dim += item is not None
    return found


class Trace(TorchFunctionMode):
    """Counts calls into torch, keeps the one that raised, and how many places
    there are where integer inputs are looked up."""

    def __init__(self, inputs=()):
        super().__init__()
        self.count = 0
        self.last = None
        self.limits = {}
        self.integers = {}
        for i, t in enumerate(inputs):
            if isinstance(t, torch.Tensor) and t.dtype in (
                    torch.int64, torch.int32):
                self.integers[self.key(t)] = str(i)

    @staticmethod
    def key(t):
        """The same for an input and its views, where it holds data."""
        return id(t) if t.is_meta else t.untyped_storage().data_ptr()

    def see(self, func, args, kwargs):
        try:
            found = looked_up(getattr(func, "__name__", ""), args,
                              kwargs or {})
            for t, places in found:
                at = self.integers.get(self.key(t))
                if at is not None and places > 0:
                    self.limits[at] = min(int(places),
                                          self.limits.get(at, 1 << 31))
        except Exception:
            pass  # a call that fails in its own way

    def __torch_function__(self, func, kinds, args=(), kwargs=None):
        self.count += 1
        self.last = (func, args, kwargs)
        if self.integers:
            self.see(func, args, kwargs)
        result = func(*args, **(kwargs or {}))
        self.last = None
        return result


def params_of(function, skip_self):
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    out = []
    for i, p in enumerate(signature.parameters.values()):
        if skip_self and i == 0:
            continue
        note = p.annotation
        if note is inspect.Parameter.empty:
            note = ""
        elif not isinstance(note, str):
            note = getattr(note, "__name__", None) if isinstance(
                note, type) else str(note)
        given = p.default is not inspect.Parameter.empty
        out.append({"name": p.name, "kind": p.kind.name.lower(),
                    "has_default": given,
                    "annotation": cut(note or "", 120)})
    return out[:64]


class Probe:
    def __init__(self):
        self.space = None
        self.entry = None
        self.source = None
        self.path = os.path.join(os.getcwd(), "task_module.py")
        self.text = None
        self.model = None
        self.inputs = None
        self.draw = None
        self.where = "load"
        self.trace = None
        self.registered = 0
        self.written = []  # inputs that forward writes: results as well

    # -- reports ----------------------------------------------------------

    def failure(self, exc):
        frames = []
        tb = exc.__traceback__
        while tb is not None:
            name = tb.tb_frame.f_code.co_filename
            if name == self.path:
                frames.append((tb.tb_frame, tb.tb_lineno))
            tb = tb.tb_next
        source = self.source
        told = []
        for i, (frame, line) in enumerate(frames[-6:]):
            told.append(describe(frame, line, source,
                                 i == len(frames[-6:]) - 1))
        report = {"ok": False, "where": self.where,
                  "class": type(exc).__name__, "message": cut(exc),
                  "line": frames[-1][1] if frames else 0,
                  "frames": told[::-1], "ops": self.progress()}
        if isinstance(exc, Deadline):
            report["class"] = "Deadline"
            report["message"] = "the CPU time of one attempt is used up"
        trace = self.trace
        if trace is not None:
            report["limits"] = trace.limits
        if trace is not None and trace.last is not None:
            func, args, kwargs = trace.last
            tensors = []
            for a in list(args) + list((kwargs or {}).values()):
                for t in a if isinstance(a, (list, tuple)) else [a]:
                    if isinstance(t, torch.Tensor) and len(tensors) < 8:
                        tensors.append(t)
            report["op"] = {
                "name": cut(getattr(func, "__name__", "?"), 60),
                "tensors": [{"shape": list(t.shape), "dtype": dtype_name(t),
                             "input": self.which(t)} for t in tensors]}
        self.trace = None
        return report

    def progress(self):
        return self.trace.count if self.trace else self.registered

    def which(self, tensor):
        for i, value in enumerate(self.inputs or []):
            if value is tensor:
                return i
            if isinstance(value, (list, tuple)) and any(
                    v is tensor for v in value):
                return i
        return -1

    # -- ops --------------------------------------------------------------

    def load(self, msg, text):
        self.where = "load"
        torch.set_num_threads(int(msg.get("threads", 1)))
        module = types.ModuleType("task_module")
        module.__file__ = self.path
        sys.modules["task_module"] = module
        self.space = module.__dict__
        self.source = Source(text)
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(text)  # so that inspect finds the source
        budget(float(msg["cpu_s"]))
        Clock.install()
        exec(compile(text, self.path, "exec", dont_inherit=True), self.space)
        entry = self.space.get(msg["entry"])
        if (msg["entry"] != "Model" and callable(entry)
                and not isinstance(entry, (type, torch.nn.Module))):
            self.entry = entry  # a function, its Model is yet to come
            return {"ok": True}
        if not isinstance(entry, type) or not issubclass(entry,
                                                         torch.nn.Module):
            raise Broken("the entry is no nn.Module class")
        self.entry = entry
        return {"ok": True, "init": params_of(entry.__init__, True),
                "forward": params_of(entry.forward, True)}

    def defining(self, text):
        """Names of the source and of a text run on top of it."""
        space = dict(self.space)
        space["torch"] = torch  # the task's text imports it
        if text is not None:
            exec(compile(text, TAIL, "exec"), space)
        return space

    def build(self, text):
        """Model of the text (None: the loaded source defines it), kept until
        another text comes."""
        self.where = "construct"
        self.trace = None
        self.model = None
        space = self.defining(text)
        self.registered = 0

        def counted(module, name, value):
            self.registered += 1

        hooks = [torch.nn.modules.module.register_module_parameter_registration_hook(counted),
                 torch.nn.modules.module.register_module_module_registration_hook(counted)]
        try:
            seed_all(SEEDS[0])
            model = space["Model"](*space["get_init_inputs"]())
        finally:
            for h in hooks:
                h.remove()
        self.model = model.eval()
        self.text = text

    def try_(self, msg):
        budget(float(msg["cpu_s"]))
        self.inputs = None
        if self.model is None or self.text != msg.get("model"):
            self.build(msg.get("model"))
        self.where = "inputs"
        self.draw = self.defining(msg.get("inputs"))["get_inputs"]
        self.inputs = self.fresh(SEEDS[0])
        self.where = "forward"
        self.trace = Trace(self.inputs)
        with torch.no_grad(), self.trace:
            result = self.model(*self.inputs)
        trace, self.trace = self.trace, None
        outs = flatten(result, [])
        return {"ok": True, "ops": trace.count, "limits": trace.limits,
                "outs": [{"shape": list(t.shape), "dtype": dtype_name(t)}
                         for t in outs]}

    def measure(self, msg):
        self.where = "measure"
        budget(float(msg["cpu_s"]))
        seed_all(SEEDS[0])
        self.inputs = self.draw()
        graph = Graph(self.inputs, self.named_state().values())
        count = Count(graph)
        with torch.no_grad(), Calls(count), count:
            result = self.model(*self.inputs)
        outs = flatten(result, [])
        reply = count.figures(self.model, self.inputs, outs)
        reply["graph"] = graph.hash(outs)
        return reply

    # -- the quality gate -------------------------------------------------

    def run(self, inputs, seed=SEEDS[0], model=None):
        seed_all(seed)
        with torch.no_grad():
            outs = flatten((model or self.model)(*inputs), [])
        return outs + flat_inputs([inputs[i] for i in self.written])

    def fresh(self, seed):
        """Inputs under a seed; integers with the bounds of their range."""
        seed_all(seed)
        with Makers() as makers:
            values = list(self.draw())
        for t in flat_inputs(values):
            drawn = makers.of.get(id(t), (None, None, None))[2]
            if drawn and drawn[0] == "int" and t.numel():
                flat = t.view(-1)  # not in order: that may be the identity
                flat[0] = drawn[2]
                if t.numel() > 1 or seed == SEEDS[1]:
                    flat[-1] = drawn[1]
        return values

    def gate(self, msg):
        """
        Measurements for the verdict, each in a field of its own:
        uninitialised (names), deterministic, seeded (equal only when seeded
        anew), hidden (what else it depends on), finite, mutates (inputs that
        are written: results like what is returned), identity, constant
        (distributions under which
        three seeds give one output), spread, deviation and deviation
        relative to the mean magnitude of the floating outputs (the largest
        of each), unused_inputs, unused_parameters, train (text of the
        failure in train mode).
        """
        self.where = "gate"
        budget(float(msg["cpu_s"]))
        out = {"ok": True}
        out["uninitialised"] = self.uninitialised(self.text)
        first = self.fresh(SEEDS[0])
        kept = clone(first)
        self.written = []
        a = clone(self.run(first))
        self.written = out["mutates"] = [
            i for i in range(len(first)) if not same(first[i], kept[i])]
        a += clone(flat_inputs([first[i] for i in self.written]))
        # `first` stays, so that this one lies at other addresses
        b = self.run(clone(kept))
        c = self.run(clone(kept), seed=SEEDS[1])
        out["deterministic"] = same(a, b)
        out["seeded"] = same(a, b) and not same(a, c)
        out["hidden"] = self.hidden(kept, a) if same(a, b) else ""
        out["finite"] = all(finite(t) for t in a)
        out["identity"] = bool(a) and all(
            any(isinstance(x, torch.Tensor) and x.shape == t.shape
                and x.dtype == t.dtype and same(x, t)
                for x in flat_inputs(kept)) for t in a)
        if (out["uninitialised"] or out["identity"] or not out["finite"]
                or not out["deterministic"] or out["hidden"]):
            self.model = None
            return out  # that is enough to reject it
        out["constant"], steady = self.constant(a)
        out["finite"] = out["finite"] and steady
        floats = [t.double().flatten() for t in a if t.is_floating_point()]
        if floats and out["finite"]:
            out["spread"] = max(float(t.max() - t.min()) for t in floats
                                if t.numel())
            out["deviation"] = max(float(t.std(unbiased=False))
                                   for t in floats if t.numel())
            out["relative"] = max(
                float(t.std(unbiased=False) / (t.abs().mean() + 1e-12))
                for t in floats if t.numel())
            out["scalar"] = all(t.numel() == 1 for t in floats)
        out["unused_inputs"] = self.unused_inputs(kept, a)
        out["unused_parameters"] = self.unused_parameters(kept)
        out["train"] = self.train_mode(kept)
        self.model = None  # its parameters were moved
        return out

    def hidden(self, kept, base):
        """What the output depends on that is no input, parameter or generator
        of torch."""
        seed_all(SEEDS[1])
        state = random.getstate(), sys.modules.get("numpy")
        others = state[1].random.get_state() if state[1] else None

        def reseeded(*inputs):
            random.setstate(state[0])
            if others:
                state[1].random.set_state(others)
            return self.model(*inputs)

        if not same(self.run(clone(kept), model=reseeded), base):
            return "a generator of Python or NumPy"
        Clock.ahead = 100003
        try:
            if not same(self.run(clone(kept)), base):
                return "the clock"
        finally:
            Clock.ahead = 0
        return ""

    def uninitialised(self, text):
        """Names of parameters and buffers that hold what was in memory:
        construct once with fresh memory filled with NaN."""
        # torch.use_deterministic_algorithms imports the whole compiler.
        torch._C._set_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = True
        try:
            self.build(text)
            state = {k: v.detach().clone()
                     for k, v in self.named_state().items()}
        finally:
            torch._C._set_deterministic_algorithms(False)
        self.build(text)
        bad = []
        for name, value in self.named_state().items():
            other = state.get(name)
            if other is None or not same(value, other):
                bad.append(name)
        return bad[:8]

    def named_state(self):
        out = dict(self.model.named_parameters())
        out.update(self.model.named_buffers())
        return out

    def constant(self, base):
        """Distributions under which three seeds give one output, and whether
        all is finite under the first, unscaled one. BASE: its output for the
        first seed. Of the others no more is computed than that takes."""
        flat = []
        steady = True
        drawn = [self.fresh(s) for s in SEEDS]
        for i, scale in enumerate(SCALES):
            varies = False
            try:
                first = base if i == 0 else self.run(scaled(drawn[0], scale))
                for inputs in drawn[1:]:
                    out = self.run(scaled(inputs, scale))
                    varies = varies or differs(out, first)
                    if i == 0:
                        steady = steady and all(finite(t) for t in out)
                    elif varies:
                        break
            except Exception:
                if i == 0:
                    raise
                continue  # not for such inputs: the judge drops them too
            if not varies:
                flat.append(i + 1)
        return flat, steady

    def unused_inputs(self, kept, base):
        bad = []
        for i, value in enumerate(kept):
            if not flat_inputs([value]) or i in self.written:
                continue
            used = False
            for s in SEEDS[1:]:
                other = self.fresh(s)[i]
                trial = clone(kept)
                trial[i] = flip(other, value)
                try:
                    if not same(self.run(trial), base):
                        used = True
                        break
                except Exception:
                    used = True
                    break
            if not used:
                bad.append(i)
        return bad

    def unused_parameters(self, kept):
        """The first parameter without influence: no gradient as constructed,
        and, with all moved off special values (gates that start shut), a
        change of it changes no bit of the output."""
        params = dict(self.model.named_parameters())
        suspects = self.without_gradient(params, kept)
        if not suspects:
            return []
        gen = torch.Generator().manual_seed(7)
        for p in params.values():
            self.shift(p, gen, 0.02, 0.1)
        base = self.run(clone(kept))
        for name in suspects[:256]:
            p = params[name]
            old = p.detach().clone()
            self.shift(p, gen, 0.1, 1.0)
            try:
                if same(self.run(clone(kept)), base):
                    return [name]
            finally:
                with torch.no_grad():
                    p.copy_(old)
        return []

    def without_gradient(self, params, kept):
        names = [n for n, p in params.items() if p.requires_grad]
        if not names:
            return list(params)
        try:
            seed_all(SEEDS[0])
            result = flatten(self.model(*clone(kept)), [])
            loss = sum((t.double() * torch.rand(t.shape, dtype=torch.double)
                        ).sum() for t in result if t.requires_grad)
            grads = torch.autograd.grad(loss, [params[n] for n in names],
                                        allow_unused=True)
        except (RuntimeError, TypeError, NotImplementedError):
            return list(params)  # not differentiable: all are looked at
        used = {n for n, g in zip(names, grads)
                if g is not None and bool((g != 0).any())}
        return [n for n in params if n not in used]

    @staticmethod
    def shift(p, gen, least, share):
        with torch.no_grad():
            if p.is_floating_point():
                noise = torch.randn(p.shape, generator=gen).to(p.dtype)
                p.add_(noise * (least + share * float(p.abs().mean())))
            else:
                p.add_(1)

    def train_mode(self, kept):
        self.model.train()
        try:
            self.run(clone(kept))
            return ""
        except Exception as exc:
            return cut(type(exc).__name__ + ": " + str(exc), 200)
        finally:
            self.model.eval()


def clone(values):
    def one(v):
        if isinstance(v, torch.Tensor):
            return v.clone()
        if isinstance(v, list):
            return [one(x) for x in v]
        return v

    return [one(v) for v in values]


def flat_inputs(values):
    out = []
    for v in values:
        if isinstance(v, torch.Tensor):
            out.append(v)
        elif isinstance(v, list):
            out += flat_inputs(v)
    return out


def flip(new, old):
    """A redrawn input; a mask that came out equal gets every third flipped."""
    if isinstance(new, torch.Tensor) and new.dtype == torch.bool and same(
            new, old):
        new = new.clone()
        flat = new.view(-1)
        flat[::3] = ~flat[::3]
    return new


def same(a, b):
    """Equal in every bit that counts; NaN equals NaN."""
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if not isinstance(a, torch.Tensor):
        return a == b
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if torch.equal(a, b):
        return True
    if not a.is_floating_point():
        return False
    return bool(((a == b) | (a.isnan() & b.isnan())).all())


def scaled(values, factor):
    """Copies, floating tensors times a factor."""
    def one(v):
        if isinstance(v, torch.Tensor):
            return v * factor if v.is_floating_point() else v.clone()
        if isinstance(v, list):
            return [one(x) for x in v]
        return v

    return [one(v) for v in values]


def finite(t):
    return not t.is_floating_point() or bool(torch.isfinite(t).all())


def apart(x, y):
    x, y = x.double(), y.double()
    limit = 1e-5 * torch.maximum(x.abs(), y.abs()) + 1e-9
    return bool(((x - y).abs() > limit).any())


def differs(a, b):
    """More than rounding between two outputs of the same structure."""
    if len(a) != len(b):
        return True
    for x, y in zip(a, b):
        if x.shape != y.shape:
            return True
        if not x.is_floating_point():
            if not torch.equal(x, y):
                return True
        elif apart(x.flatten()[:4096], y.flatten()[:4096]) or apart(x, y):
            return True
    return False


def serve(chan):
    """Life of a probe: chan.recv() gives (message, descriptors)."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, on_alarm)
    started = time.process_time()
    probe = Probe()
    shapes = Shapes(probe)
    while True:
        msg, fds = chan.recv()
        try:
            op = msg.get("op")
            if op == "bye":
                return
            if op == "load":
                with os.fdopen(fds[0], "rb") as f:
                    text = f.read().decode("utf-8")
                reply = probe.load(msg, text)
            elif op == "try":
                reply = probe.try_(msg)
            elif op == "measure":
                reply = probe.measure(msg)
            elif op == "shapes":
                budget(float(msg["cpu_s"]))
                reply = shapes.run(msg)
            elif op == "gate":
                reply = probe.gate(msg)
            elif op in EXTRA:
                reply = EXTRA[op](probe, msg)
            else:
                reply = {"ok": False, "where": "protocol",
                         "class": "ValueError", "message": "unknown op"}
        except KeyboardInterrupt:
            raise
        except BaseException as exc:
            budget(0)
            reply = probe.failure(exc)
        budget(0)
        reply["cpu"] = time.process_time() - started
        chan.send(reply)
