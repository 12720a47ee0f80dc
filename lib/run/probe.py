# SPDX-License-Identifier: MIT
"""
Test runs of km-testgen, inside a jailed fork of the zygote: holds one foreign
module at a time, builds it, runs its forward and reports what came out. It
decides nothing: proposals, refinement and verdicts are the C side's.

Ops (each gets one reply; a failure is {ok: false, where, class, message, ...}):

  load     {entry, threads} + fd of the source
           -> {init: [param], forward: [param]}
           param = {name, kind, has_default, annotation}; none of a function
  try      {model, inputs, cpu_s, light}: texts that define Model and
           get_init_inputs, and get_inputs; one construction (kept while the
           text stays the same) and one forward; light: the values of
           parameters do not matter, nor does what has so many of them that
           it would take more than cpu_s
           -> {ops, outs: [{shape, dtype}], limits: {input: places}}
  measure  -> {flops, moved, kernels, largest, bytes, parameters,
            ops: {name: count}, graph}
  shapes   {model, inputs}: try and measure on shapes alone, see counts.py
  gate     {cpu_s}: the quality measurements, see gate.py
  watch    {class}: how the model builds and calls a class, see watch.py
  bye

try leaves model and inputs for measure and gate.
"""
import ast
import bisect
import contextlib
import datetime
import gc
import inspect
import math
import os
import random
import resource
import signal
import sys
import time
import types
import warnings

import torch
from torch.overrides import TorchFunctionMode

MANY_FORKS = True  # for the zygote: what makes these cheaper pays
TAIL = "<task>"
TEXT_MAX = 700
SEEDS = (11, 22, 33)
DRAWN_PER_S = 1e8  # parameters
EXTRA = {}  # ops of the texts behind this one: function of (probe, message)


class Deadline(BaseException):
    """Not an Exception: foreign `except Exception` must not swallow it. Where
    something did, and goes on for as long again, that is the process's end."""

    raised = False


class Broken(Exception):
    """A rule of this file is not met; the text goes to the report."""


def on_alarm(signum, frame):
    if Deadline.raised:
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        signal.raise_signal(signal.SIGXCPU)
    Deadline.raised = True
    raise Deadline()


def budget(seconds):
    """CPU seconds until Deadline; 0: none. Where one operator goes on for as
    long again, whole seconds rounded up, that is the process's end too."""
    Deadline.raised = False
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    used = resource.getrusage(resource.RUSAGE_SELF)
    end = used.ru_utime + used.ru_stime + 2 * seconds
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(end) + 2 if seconds else hard
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard - 1)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


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

    NAMES = ("time", "monotonic", "perf_counter", "process_time",
             "thread_time", "clock_gettime")
    # 400 days and 2 hours, so that each part of a date is another one.
    AHEAD = 34567891
    ahead = 0

    @classmethod
    def install(cls):
        for name in cls.NAMES:
            for name, unit in ((name, 1), (name + "_ns", 1000000000)):
                setattr(time, name, cls.of(getattr(time, name), unit))
        for name, at in (("gmtime", 0), ("localtime", 0), ("ctime", 0),
                         ("asctime", 0), ("strftime", 1)):
            setattr(time, name, cls.parts(getattr(time, name), at))
        datetime.datetime, datetime.date = Moment, Day

    @classmethod
    def of(cls, inner, unit):
        return lambda *which: inner(*which) + cls.ahead * unit

    @staticmethod
    def parts(inner, at):
        """The time at which INNER looks is its argument AT, or now."""
        if inner.__name__ in ("asctime", "strftime"):
            return lambda *args: inner(*args, *(
                () if len(args) > at else (time.localtime(),)))
        return lambda secs=None: inner(time.time() if secs is None else secs)


class Moment(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + datetime.timedelta(seconds=Clock.ahead)

    @classmethod
    def utcnow(cls):
        return super().utcnow() + datetime.timedelta(seconds=Clock.ahead)

    @classmethod
    def today(cls):
        return cls.now()


class Day(datetime.date):
    @classmethod
    def today(cls):
        return cls.fromtimestamp(time.time())


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
    """Statements of one text by line, for reports on failures. A text may be
    long, and few of its classes are asked for: they are parsed one by one.
    CODE: what the text was compiled to, which knows where they start."""

    def __init__(self, text, code):
        self.lines = text.split("\n")
        self.starts = sorted({1} | {
            c.co_firstlineno for c in code.co_consts
            if isinstance(c, types.CodeType) and c.co_name[:1] != "<"})
        self.parsed = {}
        self.parents = {}

    def parse(self, start, end):
        try:
            tree = ast.parse("\n" * (start - 1) + "\n".join(
                self.lines[start - 1:end]))
        except (SyntaxError, ValueError, RecursionError):
            return None
        stmts = []
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, ast.stmt):
                stmts.append(node)
        return stmts

    def stmts(self, line):
        """Those of the part that holds LINE."""
        at = max(bisect.bisect(self.starts, line), 1)
        if at not in self.parsed:
            end = self.starts[at] - 1 if at < len(self.starts) else None
            self.parsed[at] = self.parse(self.starts[at - 1], end)
        if self.parsed[at] is None:  # it starts inside of another statement
            if 0 not in self.parsed:
                self.parsed[0] = self.parse(1, None) or []
            self.parsed[at] = self.parsed[0]
        return self.parsed[at]

    def at(self, line):
        best = None
        for s in self.stmts(line):
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
        self.source_text = ""
        self.code = None
        self.path = os.path.join(os.getcwd(), "task_module.py")
        self.text = None
        self.model = None
        self.inputs = None
        self.draw = None
        self.where = "load"
        self.trace = None
        self.registered = 0
        self.light = False  # the model's parameters are not those of its text
        self.reads = None  # operators of these that read values, where known

    # -- reports ----------------------------------------------------------

    def failure(self, exc):
        frames = []
        tb = exc.__traceback__
        while tb is not None:
            name = tb.tb_frame.f_code.co_filename
            if name == self.path:
                frames.append((tb.tb_frame, tb.tb_lineno))
            tb = tb.tb_next
        if self.source is None and self.code:  # many are never asked
            self.source = Source(self.source_text, self.code)
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
        self.source, self.source_text = None, text
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(text)  # so that inspect finds the source
        budget(float(msg["cpu_s"]))
        Clock.install()
        self.code = compile(text, self.path, "exec", dont_inherit=True)
        exec(self.code, self.space)
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

    @contextlib.contextmanager
    def once_more(self):
        """The source run anew, with globals of its own."""
        space, module = self.space, sys.modules["task_module"]
        other = types.ModuleType("task_module")
        other.__file__ = self.path
        sys.modules["task_module"] = other
        self.space = other.__dict__
        try:
            exec(self.code, self.space)
            yield
        finally:
            self.space, sys.modules["task_module"] = space, module

    def defining(self, text):
        """Names of the source and of a text run on top of it."""
        space = dict(self.space)
        space["torch"] = torch  # the task's text imports it
        if text is not None:
            exec(compile(text, TAIL, "exec"), space)
        return space

    def build(self, text, most=0):
        """Model of the text (None: the loaded source defines it), kept until
        another text comes. MOST: it is a light one, and no larger."""
        self.where = "construct"
        self.trace = None
        self.model = None
        space = self.defining(text)
        self.registered = 0
        numbers = 0

        def counted(module, name, value):
            nonlocal numbers
            self.registered += 1
            if most and isinstance(value, torch.Tensor) and (
                    not torch.nn.parameter.is_lazy(value)):
                numbers += value.numel()
                if numbers > most:
                    raise Deadline()

        hooks = [torch.nn.modules.module.register_module_parameter_registration_hook(counted),
                 torch.nn.modules.module.register_module_module_registration_hook(counted)]
        try:
            seed_all(SEEDS[0])
            with Tiled() if most else contextlib.nullcontext():
                model = space["Model"](*space["get_init_inputs"]())
        finally:
            for h in hooks:
                h.remove()
        self.model = model.eval()
        self.text = text
        self.light = most > 0

    def try_(self, msg):
        cpu_s = float(msg["cpu_s"])
        budget(cpu_s)
        self.inputs = self.reads = None
        light = bool(msg.get("light", False))
        if (self.model is None or self.text != msg.get("model")
                or self.light and not light):
            self.build(msg.get("model"), DRAWN_PER_S * cpu_s if light else 0)
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
        self.reads = sorted(count.reads)
        return reply

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

    def named_state(self):
        out = dict(self.model.named_parameters())
        out.update(self.model.named_buffers())
        return out


def flat_inputs(values):
    out = []
    for v in values:
        if isinstance(v, torch.Tensor):
            out.append(v)
        elif isinstance(v, list):
            out += flat_inputs(v)
    return out


def serve(chan):
    """Life of a probe: chan.recv() gives (message, descriptors)."""
    warnings.simplefilter("ignore")
    # Collections look for cycles among what was made since; by default each
    # 700 objects, which one parse of a text makes many times over.
    gc.set_threshold(20000, 10, 10)
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
