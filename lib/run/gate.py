# SPDX-License-Identifier: MIT
"""
Measurements for the quality gate: a part of the module km_probe (probe.py is
the first, and defines what is used here).

  gate  {cpu_s} after try -> each in a field of its own: uninitialised (names),
        deterministic, seeded (equal only when seeded anew), hidden (what else
        it depends on), sized (the values of inputs are seen in
        the sizes of outputs), finite, mutates (inputs that are written: results like
        what is returned), identity, constant (distributions under which three
        seeds give one output), spread, deviation and deviation relative to the
        mean magnitude of the floating outputs (the largest of each),
        unused_inputs, unused_items ([input, items of that list]),
        unused_parameters, train (text of the failure in train mode)
"""
SCALES = (1.0, 3.0, 0.01, -1.0)  # D1 to D4
CALLS_MOST = 12  # more with the same inputs, of a model that keeps something
CALLS_S = 0.02   # CPU seconds of them, of one that does not


MEMORY = "memory that nothing was written to"


class Gate:
    def __init__(self, probe):
        self.probe = probe
        self.written = []  # inputs that forward writes: results as well
        self.sized = False  # sizes of outputs depend on values of inputs

    def run(self, inputs, seed=SEEDS[0], model=None):
        seed_all(seed)
        with torch.no_grad():
            outs = flatten((model or self.probe.model)(*inputs), [])
        return outs + flat_inputs([inputs[i] for i in self.written])

    def figures(self, msg):
        """The model and the inputs are those of the op `try`, which ran."""
        self.probe.where = "gate"
        budget(float(msg["cpu_s"]))
        out = {"ok": True, "uninitialised": [], "deterministic": True,
               "seeded": False, "hidden": "", "finite": True,
               "identity": False}
        if self.probe.model is None or self.probe.light:
            self.probe.build(self.probe.text)
        first = self.probe.fresh(SEEDS[0])
        kept = clone(first)
        results = self.run(first)
        views = are_views(results, first)
        a = clone(results)
        self.written = out["mutates"] = [
            i for i in range(len(first)) if not same(first[i], kept[i])]
        # `first` stays, so that later inputs lie at other addresses
        a += clone(flat_inputs([first[i] for i in self.written]))
        drawn = [kept] + [self.probe.fresh(s) for s in SEEDS[1:]]
        second = self.as_made_anew(kept, drawn[1], a)
        if second is None:
            out["uninitialised"] = self.uninitialised(self.probe.text)
            if out["uninitialised"]:
                self.probe.model = None
                return out  # that is enough to reject it
            a = clone(self.run(clone(kept)))
        out["finite"] = all(finite(t) for t in a)
        out["identity"] = bool(a) and (
            views and not self.written or all(
                any(isinstance(x, torch.Tensor) and x.shape == t.shape
                    and x.dtype == t.dtype and same(x, t)
                    for x in flat_inputs(kept)) for t in a))
        if out["identity"] or not out["finite"]:
            self.repeated(kept, a, out)
            self.probe.model = None
            return out
        out["constant"], steady = self.constant(a, drawn, second)
        unused = self.unused_inputs(kept, a, second)
        self.repeated(kept, a, out)
        # Memory that this gate has filled with NaN says nothing of the output.
        out["finite"] = out["finite"] and (steady or out["hidden"] == MEMORY)
        out["sized"] = self.sized
        floats = [t.double().flatten() for t in a
                  if t.is_floating_point() and t.numel()]
        if floats and out["finite"]:
            out["spread"] = max(float(t.max() - t.min()) for t in floats)
            out["deviation"] = max(float(t.std(unbiased=False))
                                   for t in floats)
            out["relative"] = max(
                float(t.std(unbiased=False) / (t.abs().mean() + 1e-12))
                for t in floats)
            out["scalar"] = all(t.numel() == 1 for t in floats)
        out["unused_inputs"] = list(unused)
        out["unused_items"] = [[i] + unused[i] for i in unused
                               if isinstance(kept[i], list)]
        if unused or not out["deterministic"] or out["hidden"]:
            self.probe.model = None
            return out
        out["unused_parameters"] = self.unused_parameters(kept)
        out["train"] = self.train_mode(kept)
        self.probe.model = None  # its parameters were moved
        if second is None and not (out["unused_parameters"] or out["train"]):
            out["hidden"] = self.stray(kept, a)
        return out

    def as_made_anew(self, kept, other, base):
        """
        All that `uninitialised` and `stray` ask of a model, at once: made of
        the source run anew, at another time, in memory filled with NaN, with
        the state that the first one has, and with BASE for KEPT after a call
        with OTHER. Its output for OTHER, or None: then they tell what is
        wrong, if anything.
        """
        probe = self.probe
        model, text = probe.model, probe.text
        try:
            with at_another_time(), probe.once_more(), fresh_memory(True):
                probe.build(text)
                state = probe.named_state()
                made, probe.model = probe.model, model
                if not same_state(state, probe.named_state()):
                    return None
                second = clone(self.run(clone(other), model=made))
                out = self.run(clone(kept), model=made)
        except Exception:
            return None
        finally:
            probe.model, probe.text, probe.where = model, text, "gate"
        return second if same(out, base) or (
            all(map(finite, out)) and not differs(out, base)) else None

    def repeated(self, kept, base, out):
        """Called again, with all changed that is none of its arguments, it
        gives BASE: else OUT says what it depends on."""
        self.look_again(kept, base, out)
        # It differs when it likes, and may look like any of the others.
        if (out["finite"] and (out["hidden"] or not out["deterministic"])
                and self.shows_memory(kept)):
            out["hidden"], out["deterministic"] = MEMORY, True

    def look_again(self, kept, base, out):
        before = self.kept_state()
        if not same(self.elsewhere(kept, SEEDS[1], True), base):
            inputs = clone(kept)  # they stay, as `first` does
            again = self.run(inputs)
            if not same(again, base):
                if same(self.run(clone(kept)), again):
                    out["hidden"] = "earlier calls"
                else:
                    out["deterministic"] = False
                return
            out["seeded"] = not same(self.run(clone(kept), SEEDS[1]), base)
            out["hidden"] = self.hidden(kept, base)
        if out["hidden"]:
            return
        # What counts its calls may do another thing after some of them.
        counts = self.kept_state() != before
        started = time.process_time()
        for _ in range(CALLS_MOST):
            if not counts and time.process_time() - started > CALLS_S:
                break
            if not same(self.run(clone(kept)), base):
                out["hidden"] = "earlier calls"
                break

    def kept_state(self):
        return attributes(self.probe.model, self.probe.space)

    def shows_memory(self, kept):
        """Filled with NaN, twice, it is what the output shows."""
        with fresh_memory(True):
            first, second = self.run(clone(kept)), self.run(clone(kept))
        return same(first, second) and not all(map(finite, first))

    def elsewhere(self, kept, seed, ahead):
        """The output with generators of Python and NumPy, and the clock, that
        are not what they were; SEED: of those of torch."""
        seed_all(SEEDS[1])
        state = random.getstate(), sys.modules.get("numpy")
        others = state[1].random.get_state() if state[1] else None

        def reseeded(*inputs):
            random.setstate(state[0])
            if others:
                state[1].random.set_state(others)
            return self.probe.model(*inputs)

        with at_another_time(ahead):
            return self.run(clone(kept), seed, reseeded)

    def hidden(self, kept, base):
        """What the output depends on that is no input, parameter or generator
        of torch."""
        if not same(self.elsewhere(kept, SEEDS[0], False), base):
            return "a generator of Python or NumPy"
        if not same(self.elsewhere(kept, SEEDS[0], True), base):
            return "the clock"
        return ""

    def stray(self, kept, base):
        """The same of a model of its own, of the source run anew."""
        def equal(fill, earlier, ahead=False):
            try:
                with at_another_time(ahead):
                    out = self.anew(kept, fill, earlier)
            except Exception:
                return False
            return same(out, base) or (all(map(finite, out))
                                       and not differs(out, base))

        def shows_memory():
            """As of the same name above: what lies there by chance may differ
            from model to model."""
            try:
                first = self.anew(kept, True, False)
                second = self.anew(kept, True, False)
            except Exception:
                return False
            return same(first, second) and not all(map(finite, first))

        if equal(True, True):
            return "" if equal(True, True, True) else "the clock"
        try:
            out = self.anew(kept, False, False)
        except Exception:
            return ""  # a source that can be run but once
        if not same(out, base):
            return (MEMORY if shows_memory()
                    else "what is not seeded when the model is made")
        return (MEMORY if equal(False, True)
                else "earlier calls")

    def anew(self, kept, fill, earlier):
        """Its output. FILL: with fresh memory filled with NaN; EARLIER: after
        a call with other inputs."""
        probe = self.probe
        other = probe.fresh(SEEDS[1])
        text = probe.text
        with probe.once_more(), fresh_memory(fill):
            try:
                probe.build(text)
                if earlier:
                    self.run(other)
                inputs = clone(kept)
                out = clone(self.run(inputs))
            finally:
                probe.model = None
        return out

    def uninitialised(self, text):
        """Names of parameters and buffers that hold what was in memory:
        construct once with fresh memory filled with NaN."""
        with fresh_memory(True):
            self.probe.build(text)
            state = {k: v.detach().clone()
                     for k, v in self.probe.named_state().items()}
        self.probe.build(text)
        bad = []
        for name, value in self.probe.named_state().items():
            other = state.get(name)
            if other is None or not same(value, other):
                bad.append(name)
        return bad[:8]

    def constant(self, base, drawn, second):
        """Distributions under which three seeds give one output, and whether
        all is finite under the first, unscaled one. BASE, SECOND: the outputs
        for the first two that are DRAWN (SECOND: or None). Where no value was
        read that a size could come from, that distribution is enough."""
        flat = []
        steady = True
        sizes = shapes(base)
        for i, scale in enumerate(SCALES):
            if i > 0 and not self.reads_values(drawn[0]):
                break
            varies = False
            try:
                first = base if i == 0 else self.run(scaled(drawn[0], scale))
                for k in (1, 2):
                    out = second if i == 0 and k == 1 and second else self.run(
                        scaled(drawn[k], scale))
                    varies = varies or differs(out, first)
                    self.sized |= not sizes == shapes(first) == shapes(out)
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

    def reads_values(self, inputs):
        if self.probe.reads is None:
            count = Count()
            seed_all(SEEDS[0])
            try:
                with torch.no_grad(), Calls(count), count:
                    self.probe.model(*clone(inputs))
                self.probe.reads = sorted(count.reads)
            except Exception:
                self.probe.reads = ["unknown"]  # not with such modes
        return len(self.probe.reads) > 0

    def unused_inputs(self, kept, base, second):
        """{input: its tensors} that the output does not depend on. SECOND: the
        output for all of them drawn anew, or None."""
        bad = {}
        if (second and len(flat_inputs(kept)) == 1 and not self.written
                and differs(second, base)):
            return bad
        for i, value in enumerate(kept):
            if i in self.written:
                continue
            for k in range(len(flat_inputs([value]))):
                if not any(self.uses(kept, base, i, k, s) for s in SEEDS[1:]):
                    bad.setdefault(i, []).append(k)
        return bad

    def uses(self, kept, base, i, k, seed):
        """Does the output change with the Kth tensor of input I?"""
        other = flat_inputs([self.probe.fresh(seed)[i]])[k]
        trial = clone(kept)
        tensor = flat_inputs([trial[i]])[k]
        try:
            tensor.copy_(flip(other, tensor))
            return not same(self.run(trial), base)
        except Exception:
            return True

    def unused_parameters(self, kept):
        """The first parameter without influence: no gradient as constructed,
        and, with all moved off special values (gates that start shut), a
        change of it changes no bit of the output."""
        params = dict(self.probe.model.named_parameters())
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
            result = flatten(self.probe.model(*clone(kept)), [])
            loss = sum((t.double() * torch.rand(t.shape, dtype=torch.double)
                        ).sum() for t in result if t.requires_grad)
            grads = torch.autograd.grad(loss, [params[n] for n in names],
                                        allow_unused=True)
        except Exception:
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
        self.probe.model.train()
        try:
            self.run(clone(kept))
            return ""
        except Exception as exc:
            return cut(type(exc).__name__ + ": " + str(exc), 200)
        finally:
            self.probe.model.eval()


@contextlib.contextmanager
def at_another_time(ahead=True):
    """AHEAD: the clocks of Python are put forward."""
    Clock.ahead = Clock.AHEAD if ahead else 0
    try:
        yield
    finally:
        Clock.ahead = 0


@contextlib.contextmanager
def fresh_memory(fill):
    """FILL: what is allocated and not written holds NaN."""
    # torch.use_deterministic_algorithms imports the whole compiler.
    torch._C._set_deterministic_algorithms(fill, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    try:
        yield
    finally:
        torch._C._set_deterministic_algorithms(False)


def clone(values):
    def one(v):
        if isinstance(v, torch.Tensor):
            return v.clone()
        if isinstance(v, list):
            return [one(x) for x in v]
        return v

    return [one(v) for v in values]


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


def same_state(a, b):
    return a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())


def are_views(outs, inputs):
    """All of OUTS lie in the memory of INPUTS."""
    places = {t.untyped_storage().data_ptr() for t in flat_inputs(inputs)}
    return all(t.numel() and t.untyped_storage().data_ptr() in places
               for t in outs)


def attributes(model, names):
    """What is seen of what MODEL, its modules, the source's NAMES and its
    classes hold, to be compared."""
    def one(v, depth=0):
        if isinstance(v, (bool, int, float, str)) or v is None:
            return v
        if isinstance(v, torch.Tensor):
            return id(v), 0 if v.is_inference() else v._version
        if isinstance(v, (list, tuple, dict)) and depth < 4:
            return [one(x, depth + 1) for x in (
                dict.values(v) if isinstance(v, dict) else v)]
        return id(v)

    # Names such as `modules` and `values` may be attributes of theirs.
    held = [vars(m) for m in torch.nn.Module.modules(model)]
    held += [vars(c) for c in names.values() if issubclass(type(c), type)
             and c.__module__ == names.get("__name__")]
    return [one(list(d.items())) for d in held + [names]]


def scaled(values, factor):
    """Copies, floating tensors times a factor."""
    def one(v):
        if isinstance(v, torch.Tensor):
            return v * factor if v.is_floating_point() else v.clone()
        if isinstance(v, list):
            return [one(x) for x in v]
        return v

    return [one(v) for v in values]


def shapes(outs):
    return [t.shape for t in outs]


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


EXTRA["gate"] = lambda probe, msg: Gate(probe).figures(msg)
