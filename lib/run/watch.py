# SPDX-License-Identifier: MIT
"""
How a module that runs builds and calls the modules inside it: the second part
of the module km_probe (probe.py is the first, and defines what is used here).

  watch  {class, cpu_s} on a task that was loaded and is its `Model`
         -> {seen: [{init: {NAME: value}, in: {NAME: input}, uses: [name]}]}

Values are plain ones, or {"$": text} for an expression in which `uses` are
names of the source; inputs are entries as of task.inputs. `in` is missing where
the module was built and never called, or called with what no input describes.
"""
import dataclasses
import enum
import functools

SEEN_MAX = 3  # constructions reported
EXPR_MAX = 4000


class Opaque(Exception):
    """A value that no expression gives."""


class Observer:
    def __init__(self, probe):
        self.probe = probe
        self.space = probe.space
        self.built = {}  # id -> (object kept alive, bound arguments)
        self.order = []  # instances of the class, in order of construction
        self.calls = {}  # id -> bound arguments of the first call, as entries
        self.uses = set()
        self.undo = []

    # -- expressions --------------------------------------------------------

    def torch_name(self, value):
        name = getattr(value, "__name__", None)
        for prefix, place in (("torch.nn", torch.nn),
                              ("torch.nn.functional", torch.nn.functional),
                              ("torch", torch)):
            if name and getattr(place, name, None) is value:
                return prefix + "." + name
        raise Opaque(str(name))

    def named(self, value):
        """A class or function, by its name in the source or in torch."""
        name = getattr(value, "__name__", None)
        if isinstance(name, str) and self.space.get(name) is value and getattr(
                value, "__module__", "") == "task_module":
            self.uses.add(name)
            return name
        if isinstance(value, type) and value.__module__ == "builtins":
            return value.__name__
        return self.torch_name(value)

    def call(self, head, arguments, depth):
        return head + "(" + ", ".join(
            (k + "=" if k else "") + self.expr(v, depth + 1)
            for k, v in arguments) + ")"

    def module(self, value, depth):
        kind = type(value)
        if kind is torch.nn.Sequential:
            return self.call("torch.nn.Sequential",
                             [("", v) for v in value], depth)
        if kind is torch.nn.ModuleList:
            return "torch.nn.ModuleList(" + self.expr(list(value),
                                                      depth + 1) + ")"
        arguments = []
        for p in inspect.signature(kind.__init__).parameters.values():
            if p.name in ("self", "device", "dtype", "args", "kwargs",
                          "_weight", "_freeze"):
                continue
            if not hasattr(value, p.name):
                if p.default is p.empty:
                    raise Opaque(p.name)
                continue
            given = getattr(value, p.name)
            if p.name == "bias":
                given = given is not None and given is not False
            if p.default is p.empty or not same_plain(given, p.default):
                arguments.append((p.name, given))
        return self.call(self.torch_name(kind), arguments, depth)

    def expr(self, value, depth=0):
        if depth > 8:
            raise Opaque("deep")
        if value is None or isinstance(value, (bool, int)) and not isinstance(
                value, enum.Enum):
            return repr(value)
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else (
                "float('%r')" % value)
        if isinstance(value, enum.Enum):
            return self.named(type(value)) + "." + value.name
        if type(value) is str and len(value) < 200:
            return ascii(value)
        if type(value) in (list, tuple, set, torch.Size) and len(value) < 64:
            items = ", ".join(self.expr(v, depth + 1) for v in value)
            if type(value) is list:
                return "[" + items + "]"
            if type(value) is set:
                return "{" + items + "}" if value else "set()"
            return "(" + items + ("," if len(value) == 1 else "") + ")"
        if isinstance(value, dict) and type(value).__module__ in (
                "builtins", "collections") and len(value) < 64:
            return "{" + ", ".join(
                self.expr(k, depth + 1) + ": " + self.expr(v, depth + 1)
                for k, v in value.items()) + "}"
        if isinstance(value, torch.dtype):
            return str(value)
        if isinstance(value, torch.device):
            return "torch.device(" + ascii(str(value)) + ")"
        if isinstance(value, torch.Tensor) and value.numel() <= 16:
            return "torch.tensor(%r, dtype=%s)" % (
                value.detach().tolist(), value.dtype)
        if isinstance(value, functools.partial):
            inner = self.call(
                "functools.partial", [("", value.func)] + [
                    ("", v) for v in value.args] + list(
                        value.keywords.items()), depth)
            return "__import__('functools')" + inner[len("functools"):]
        if isinstance(value, type) or callable(value) and hasattr(
                value, "__name__"):
            return self.named(value)
        return self.instance(value, depth)

    def instance(self, value, depth):
        if isinstance(value, types.SimpleNamespace):
            return self.call("__import__('types').SimpleNamespace",
                             sorted(vars(value).items()), depth)
        if id(value) in self.built:
            given = self.built[id(value)][1]
            if given is None:
                raise Opaque("arguments")
            return self.call(self.named(type(value)), given, depth)
        if dataclasses.is_dataclass(value):
            return self.call(self.named(type(value)), [
                (f.name, getattr(value, f.name))
                for f in dataclasses.fields(value) if f.init], depth)
        if isinstance(value, torch.nn.Module) and type(
                value).__module__.startswith("torch.nn"):
            return self.module(value, depth)
        raise Opaque(type(value).__name__)

    def value(self, v):
        if v is None or isinstance(v, bool) or type(v) is str and len(v) < 200:
            return v
        if type(v) is int and abs(v) < 1 << 53:
            return v
        if type(v) is float and math.isfinite(v):
            return v
        text = self.expr(v)
        if len(text) > EXPR_MAX:
            raise Opaque("long")
        return {"$": text}

    # -- inputs -------------------------------------------------------------

    def entry(self, v, depth=0):
        if isinstance(v, torch.Tensor):
            out = {"kind": "tensor", "shape": list(v.shape),
                   "dtype": dtype_name(v), "dist": "normal"}
            if v.dtype == torch.bool:
                out.update(dist="bool", p=0.5)
            elif v.is_complex() or v.is_sparse or v.numel() == 0:
                raise Opaque("tensor")
            elif not v.is_floating_point():
                out.update(dist="int", lo=min(0, int(v.min())),
                           hi=max(1, int(v.max())))
            elif 0 <= float(v.min()) <= float(v.max()) <= 1:
                out.update(dist="uniform")
            return out
        if isinstance(v, (list, tuple)) and v and len(v) < 17 and depth < 2:
            return {"kind": "list",
                    "items": [self.entry(x, depth + 1) for x in v]}
        plain = self.value(v)
        if isinstance(plain, dict):
            raise Opaque("object")
        if plain is None:
            return {"kind": "none"}
        return {"kind": type(plain).__name__, "value": plain}

    # -- what happens -------------------------------------------------------

    def bound(self, function, args, kwargs):
        """[(name or '', value)] without what equals its default; None where
        *args are given. Keywords of **kwargs stand on their own."""
        signature = inspect.signature(function)
        given = signature.bind(*args, **kwargs)
        out = []
        for name, value in list(given.arguments.items())[1:]:
            p = signature.parameters[name]
            if p.kind is p.VAR_POSITIONAL:
                if value:
                    return None
            elif p.kind is p.VAR_KEYWORD:
                out += list(value.items())
            elif p.default is p.empty or not same_plain(value, p.default):
                out.append((name, value))
        return out

    def wrap(self, cls, wanted):
        """Note how CLS is built; of a class without a constructor of its own,
        which has that of its base, only when it is the one WANTED."""
        own = cls.__dict__.get("__init__")
        inner = cls.__init__ if own is None else own
        if not isinstance(inner, types.FunctionType) or (
                own is None and cls is not wanted):
            return

        @functools.wraps(inner)
        def init(obj, *args, **kwargs):
            if type(obj) is cls and id(obj) not in self.built:
                try:
                    given = self.bound(inner, (obj,) + args, kwargs)
                except (TypeError, ValueError):
                    given = None
                self.built[id(obj)] = (obj, given)
                if cls is wanted:
                    self.order.append(obj)
            return inner(obj, *args, **kwargs)

        self.undo.append((cls, "__init__", own))
        cls.__init__ = init

    def hook(self, cls):
        inner = cls.forward

        @functools.wraps(inner)
        def forward(obj, *args, **kwargs):
            if type(obj) is cls and id(obj) not in self.calls:
                self.calls[id(obj)] = None
                try:
                    given = self.bound(inner, (obj,) + args, kwargs)
                    self.calls[id(obj)] = {
                        k: self.entry(v) for k, v in given or []}
                except (Opaque, TypeError, ValueError, RuntimeError):
                    pass
            return inner(obj, *args, **kwargs)

        own = "forward" in cls.__dict__
        self.undo.append((cls, "forward", inner if own else None))
        cls.forward = forward

    def restore(self):
        for cls, name, inner in reversed(self.undo):
            if inner is None:
                delattr(cls, name)
            else:
                setattr(cls, name, inner)

    def report(self):
        seen, known = [], set()
        # those that were called come first
        for obj in sorted(self.order, key=lambda o: not self.calls.get(id(o))):
            given = self.built[id(obj)][1]
            if given is None or len(seen) >= SEEN_MAX:
                continue
            self.uses = set()
            try:
                init = {k: self.value(v) for k, v in given}
            except (Opaque, TypeError, ValueError, AttributeError,
                    RecursionError):
                continue
            item = {"init": init, "uses": sorted(self.uses)[:64]}
            if self.calls.get(id(obj)):
                item["in"] = self.calls[id(obj)]
            if str(item) not in known:
                known.add(str(item))
                seen.append(item)
        return {"ok": True, "seen": seen}

    def run(self, msg):
        budget(float(msg["cpu_s"]))
        wanted = self.space.get(msg["class"])
        if not isinstance(wanted, type):
            raise Broken("no such class")
        for value in list(self.space.values()):
            if isinstance(value, type) and value.__module__ == "task_module":
                self.wrap(value, wanted)
        self.hook(wanted)
        try:
            self.probe.try_({"cpu_s": msg["cpu_s"]})
        except KeyboardInterrupt:
            raise
        except BaseException:
            budget(0)  # what was seen until then is worth as much
        finally:
            self.restore()
        return self.report()


def same_plain(a, b):
    """Equal values of the kinds that defaults have."""
    if a is b:
        return True
    kinds = (bool, int, float, str, tuple, list, torch.dtype)
    return type(a) is type(b) and isinstance(a, kinds) and a == b


EXTRA["watch"] = lambda probe, msg: Observer(probe).run(msg)
