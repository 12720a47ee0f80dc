# SPDX-License-Identifier: MIT
"""
Behind probe.py in one text: what a task that others wrote says of itself.
Its source defines get_inputs, and mostly get_init_inputs, beside its class.

  init     -> {pair, given, init: [value], bound: {name: value}}: what the
           class is made with, as positional arguments where its signature
           allows. pair: get_init_inputs returns [args, kwargs].
  examine  {init, meta, cpu_s} -> {inputs, outs, mutates, flops, moved,
           kernels, bytes, held, parameters, ops}: one forward, on the meta
           device (shapes without memory) or for real
  entries  -> {inputs}: those of an examine that failed later
  observe  {cpu_s} -> {inputs: [{lo, hi, mean, std} or nil]}: get_inputs for
           real

An input is {name, kind, ...} as in docs/records.md, and further `made`: the
functions that it came through; `known`: its range is certain.
"""
META_MAX = 20000    # operators of one forward on the meta device, which is slow
LARGE = 1 << 26     # elements of a tensor that is not drawn in full
VALUES_MAX = 4096   # in one tree of plain values

# What the values of a tensor come through unchanged, ...
KEEPS = {"reshape", "view", "contiguous", "clone", "detach", "to", "float",
         "half", "bfloat16", "double", "long", "int", "bool", "type", "cpu",
         "cuda", "requires_grad_", "unsqueeze", "squeeze", "flatten",
         "get", "transpose", "permute", "t", "swapaxes", "movedim"}
# ... one by one, ...
POINTWISE = {"mul", "add", "sub", "div", "neg", "abs", "exp", "sqrt", "clamp",
             "truediv", "rsub", "pow", "sign", "sigmoid", "tanh", "relu",
             "rand", "randn", "randint", "zeros", "ones", "full", "empty",
             "rand_like", "randn_like", "zeros_like", "ones_like", "square",
             "gt", "lt", "ge", "le", "logical_not", "invert", "set"}
# ... and how the judge would draw them.
DRAWN = {"rand": ("uniform", 0.0, 1.0), "rand_like": ("uniform", 0.0, 1.0),
         "randn": ("normal", None, None), "randn_like": ("normal", None, None),
         "zeros": ("uniform", 0.0, 0.0), "zeros_like": ("uniform", 0.0, 0.0),
         "ones": ("uniform", 1.0, 1.0), "ones_like": ("uniform", 1.0, 1.0)}


class Makers(TorchFunctionMode):
    """Which functions each tensor of get_inputs came through."""

    def __init__(self):
        super().__init__()
        self.of = {}    # id: (tensor, names, how drawn or None)

    def __torch_function__(self, func, kinds, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            name = getattr(func, "__name__", "?").strip("_")
            self.note(result, name, args, kwargs or {})
        return result

    def note(self, result, name, args, kwargs):
        names, drawn, tensors = [], None, 0
        for a in args:
            if isinstance(a, torch.Tensor) and id(a) in self.of:
                _, before, drawn = self.of[id(a)]
                names += [n for n in before if n not in names]
                tensors += 1
        if name in DRAWN:
            drawn = DRAWN[name]
        elif name == "randint":
            drawn = self.bounds(args, kwargs)
        elif name not in KEEPS:
            drawn = moved_range(name, args, drawn)
        if tensors > 1:
            name = name + " of two"
        self.of[id(result)] = (result, (names + [name])[-12:], drawn)

    @staticmethod
    def bounds(args, kwargs):
        numbers = [a for a in args if isinstance(a, int)]
        numbers += [kwargs[k] for k in ("low", "high") if k in kwargs]
        if not 1 <= len(numbers) <= 2:
            return None
        low = numbers[0] if len(numbers) == 2 else 0
        return ("int", low, numbers[-1] - 1)


def moved_range(name, args, drawn):
    """DRAWN, uniform, after an operation with a number; or None."""
    numbers = [a for a in args if isinstance(a, (int, float))]
    if (not drawn or drawn[0] != "uniform" or len(args) != 2 or not numbers
            or args[0] is numbers[0]):
        return None
    step = {"mul": lambda v: v * numbers[0], "add": lambda v: v + numbers[0],
            "sub": lambda v: v - numbers[0]}.get(name)
    return ("uniform", *sorted(map(step, drawn[1:]))) if step else None


def carried(value, left, depth=0):
    """VALUE as a record can hold it; tuples become lists."""
    left[0] -= 1
    if left[0] < 0 or depth > 8:
        raise Broken("the constructor's arguments are too many")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 1 << 63:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, str) and len(value) <= VALUES_MAX:
        return str(value)
    if isinstance(value, (list, tuple)):
        return [carried(v, left, depth + 1) for v in value]
    if isinstance(value, dict) and all(isinstance(k, str) for k in value):
        return {k: carried(v, left, depth + 1) for k, v in value.items()}
    raise Broken("a constructor argument of type " + type(value).__name__)


def init_op(probe, msg):
    probe.where = "construct"
    budget(float(msg["cpu_s"]))
    get = probe.space.get("get_init_inputs")
    value = get() if callable(get) else []
    if not isinstance(value, (list, tuple)):
        raise Broken("get_init_inputs gives no list")
    pair = (len(value) == 2 and isinstance(value[0], (list, tuple))
            and isinstance(value[1], dict)
            and all(isinstance(k, str) for k in value[1]))
    args, kwargs = (list(value[0]), value[1]) if pair else (list(value), {})
    bound = dict(kwargs)
    if kwargs:
        pars = list(inspect.signature(probe.entry.__init__).parameters
                    .values())[1:]
        pars = [p for p in pars if p.kind in (p.POSITIONAL_ONLY,
                                              p.POSITIONAL_OR_KEYWORD)]
        last = max([i for i, p in enumerate(pars) if p.name in kwargs],
                   default=-1)
        for p in pars[len(args):last + 1]:
            if p.name in bound:
                args.append(bound.pop(p.name))
            elif p.default is not p.empty:
                args.append(p.default)
            else:
                raise Broken("no value for the argument " + p.name)
    left = [VALUES_MAX]
    return {"ok": True, "pair": pair, "given": callable(get),
            "init": carried(args, left), "bound": carried(bound, left)}


def made(probe, init, meta):
    """The model, on the meta device when META."""
    probe.where = "construct"
    cls = probe.space["Model"]
    if meta:
        torch.set_default_device("meta")
        try:
            return cls(*init).eval()
        except (RuntimeError, NotImplementedError):
            torch.set_default_device(None)
        model = cls(*init).eval().to("meta")
        torch.set_default_device("meta")
        return model
    return cls(*init).eval()


def drawn_inputs(probe):
    """(values, makers) of the source's own get_inputs."""
    probe.where = "inputs"
    with Makers() as makers:
        values = probe.space["get_inputs"]()
    if isinstance(values, torch.Tensor):
        values = [values]
    if not isinstance(values, (list, tuple)):
        raise Broken("get_inputs gives no list")
    return list(values), makers


def entry_of(value, name, makers, depth=0):
    if isinstance(value, torch.Tensor):
        _, names, drawn = makers.of.get(id(value), (None, ["?"], None))
        out = {"kind": "tensor", "shape": list(value.shape),
               "dtype": dtype_name(value), "made": names,
               "known": drawn is not None}
        if drawn is not None:
            out["dist"] = drawn[0]
            if drawn[1] is not None:
                out["lo"], out["hi"] = drawn[1:]
        shuffled = [n for n in names if n not in KEEPS and n not in POINTWISE]
        if shuffled:
            out["structure"] = shuffled[-1].split()[0]
    elif isinstance(value, (list, tuple)) and depth < 8:
        out = {"kind": "list", "items": [entry_of(v, "", makers, depth + 1)
                                         for v in value]}
    elif value is None or isinstance(value, (bool, int, float, str)):
        kind = {type(None): "none"}.get(type(value), type(value).__name__)
        out = {"kind": kind, "value": carried(value, [1])}
    else:
        raise Broken("an input of type " + type(value).__name__)
    if name:
        out["name"] = name
    return out


def names_for(model, count):
    pars = params_of(type(model).forward, True) or []
    names = [p["name"] for p in pars if p["kind"].startswith("positional")]
    return (names + ["input%d" % i for i in range(len(names), count)])[:count]


def examine_op(probe, msg):
    budget(float(msg["cpu_s"]))
    meta = bool(msg["meta"])
    seed_all(SEEDS[0])
    model = made(probe, msg["init"], meta)
    values, makers = drawn_inputs(probe)
    entries = [entry_of(v, n, makers)
               for v, n in zip(values, names_for(model, len(values)))]
    probe.entries = entries
    tensors = flat_inputs(values)
    if len(tensors) > 64:
        raise Broken("more than 64 input tensors")
    versions = [t._version for t in tensors]
    probe.where = "forward"
    count = Count(most=META_MAX if meta else 0)
    with torch.no_grad(), Calls(count), count:
        result = model(*values)
    outs = flatten(result, [])
    state = list(model.parameters()) + list(model.buffers())
    changed = {id(t) for t, v in zip(tensors, versions) if t._version != v}
    reply = count.figures(model, values, outs)
    reply.update(
        inputs=entries,
        outs=[{"shape": list(t.shape), "dtype": dtype_name(t)} for t in outs],
        mutates=[i for i, v in enumerate(values) if any(
            id(t) in changed for t in flat_inputs([v]))],
        held=min(COUNT_MAX, sum(t.numel() * t.element_size()
                                for t in state)))
    return reply


class Sparing(TorchFunctionMode):
    """Large tensors of chance are one row of it, over and over."""

    def __torch_function__(self, func, kinds, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in (torch.rand, torch.randn) and "out" not in kwargs:
            like = func(*args, **{**kwargs, "device": "meta"})
            if like.numel() > LARGE and like.dim() > 1:
                row = func(like.shape[-1:], dtype=like.dtype)
                return row.expand(like.shape)
        return func(*args, **kwargs)


def seen_range(value):
    if isinstance(value, (list, tuple)):
        return [seen_range(v) for v in value]
    if not isinstance(value, torch.Tensor) or not value.numel():
        return None
    if value.numel() > LARGE and not value.is_contiguous():
        return None
    lo, hi = value.min(), value.max()
    flat = value.flatten()[:1 << 20].double()
    return {"lo": lo.item(), "hi": hi.item(), "mean": float(flat.mean()),
            "std": float(flat.std(unbiased=False))}


def observe_op(probe, msg):
    budget(float(msg["cpu_s"]))
    seed_all(SEEDS[0])
    with Sparing():
        values, _ = drawn_inputs(probe)
    return {"ok": True, "inputs": [seen_range(v) for v in values]}


def warm():
    """For the zygote: what the first calls on the meta device import takes
    seconds, which each fork would spend anew."""
    x = torch.empty(2, 4, 8, 8, device="meta")
    with torch.no_grad(), Count():
        for layer in (torch.nn.Conv2d(4, 4, 3, device="meta"),
                      torch.nn.BatchNorm2d(4, device="meta").eval(),
                      torch.nn.LayerNorm(8, device="meta"), torch.nn.ReLU(),
                      torch.nn.GELU(), torch.nn.Softmax(-1),
                      torch.nn.MaxPool2d(2)):
            layer(x)
        ((x @ x).sum() + x.mean()).exp()


def entries_op(probe, msg):
    return {"ok": True, "inputs": getattr(probe, "entries", None)}


EXTRA.update(init=init_op, examine=examine_op, entries=entries_op,
             observe=observe_op)
