# SPDX-License-Identifier: MIT
"""Zygote and PyTorch runner.

The zygote imports torch once, stays single-threaded and forks a jailed runner
for each request (frames on descriptor 3). It is read from a memfd as module
km_runner; km_probe, when there is one, is another main for runners and may
use what is here. Frames and operations: lib/run/frames.h.
"""
import ctypes
import gc
import math
import mmap
import os
import re
import shutil
import signal
import socket
import struct
import sys
import types
import zlib

FRAME_MAX = 60 * 1024
FRAME_FDS = 8
DEPTH = 16
TEXT_MAX = 400
TAKEN = "it returns the memory that its output is copied to"


# ---- msgpack: the part that lib/val.h speaks ----

def pack(v, out: bytearray) -> None:
    if v is None:
        out.append(0xC0)
    elif v is True or v is False:
        out.append(0xC3 if v else 0xC2)
    elif isinstance(v, int):
        if 0 <= v < 128:
            out.append(v)
        else:
            out += struct.pack(">Bq", 0xD3, v)
    elif isinstance(v, float):
        out += struct.pack(">Bd", 0xCB, v) if math.isfinite(v) else b"\xc0"
    elif isinstance(v, str):
        b = v.encode("utf-8", "replace")
        out += struct.pack(">BI", 0xDB, len(b)) + b
    elif isinstance(v, (list, tuple)):
        out += struct.pack(">BI", 0xDD, len(v))
        for x in v:
            pack(x, out)
    elif isinstance(v, dict):
        out += struct.pack(">BI", 0xDF, len(v))
        for k, x in v.items():
            pack(k, out)
            pack(x, out)
    else:
        raise TypeError(f"cannot send a {type(v).__name__}")


FIXED = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I",
         0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
SIZED = {0xD9: (">B", "s"), 0xDA: (">H", "s"), 0xDB: (">I", "s"),
         0xDC: (">H", "l"), 0xDD: (">I", "l"),
         0xDE: (">H", "m"), 0xDF: (">I", "m")}


def unpack(b: bytes, at: int = 0, depth: int = 0):
    """Value at b[at:] and the place behind it."""
    if depth > DEPTH:
        raise ValueError("frame too deep")
    c = b[at]
    at += 1
    if c < 0x80:
        return c, at
    if c >= 0xE0:
        return c - 256, at
    if c in FIXED:
        f = FIXED[c]
        return struct.unpack_from(f, b, at)[0], at + struct.calcsize(f)
    if c in SIZED:
        f, kind = SIZED[c]
        n = struct.unpack_from(f, b, at)[0]
        at += struct.calcsize(f)
    elif c < 0xC0:
        kind = "m" if c < 0x90 else "l" if c < 0xA0 else "s"
        n = c & (0x1F if kind == "s" else 0x0F)
    elif c in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[c], at
    else:
        raise ValueError("unknown type in a frame")
    if n > len(b) - at:
        raise ValueError("frame cut short")
    if kind == "s":
        return b[at:at + n].decode(), at + n
    if kind == "l":
        items = []
        for _ in range(n):
            x, at = unpack(b, at, depth + 1)
            items.append(x)
        return items, at
    d = {}
    for _ in range(n):
        k, at = unpack(b, at, depth + 1)
        d[k], at = unpack(b, at, depth + 1)
    return d, at


def frame(msg: dict) -> bytearray:
    out = bytearray()
    pack(msg, out)
    if len(out) > FRAME_MAX:
        raise ValueError("too many tensors to tell of in one frame")
    return out


class Chan:
    """Frames on one socket. recv gives (message, descriptors)."""

    def __init__(self, fd: int):
        self.sock = socket.socket(fileno=fd)

    def send(self, msg: dict) -> None:
        self.sock.send(frame(msg))

    def recv(self):
        b, fds, _, _ = socket.recv_fds(self.sock, FRAME_MAX, FRAME_FDS)
        if not b:
            os._exit(0)  # the other side is gone
        return unpack(b)[0], fds


# ---- errors and sources ----

class NoClass(Exception):
    """The source does not define what was asked for."""


class Fault(Exception):
    """Carries where an exception happened."""

    def __init__(self, where: str, cause: BaseException):
        super().__init__(where)
        self.where = where
        self.cause = cause


def text_of(x) -> str:
    try:
        return str(x)[:TEXT_MAX].encode("utf-8", "replace")[:TEXT_MAX].decode(
            "utf-8", "ignore")
    except BaseException:  # str() of a foreign object runs foreign code
        return ""


def failure(where: str, exc: BaseException, path: str = "") -> dict:
    """Reply for EXC; line is that of the innermost frame in PATH."""
    line = 0
    if isinstance(exc, SyntaxError) and exc.filename == path:
        line = exc.lineno
    tb = exc.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == path:
            line = tb.tb_lineno
        tb = tb.tb_next
    return {"ok": False, "where": where, "class": type(exc).__name__[:80],
            "message": text_of(exc), "line": line if type(line) is int else 0}


def read_fd(fd: int) -> bytes:
    with os.fdopen(fd, "rb") as f:
        f.seek(0)
        return f.read()


def exec_source(source: bytes, name: str = "candidate") -> types.ModuleType:
    """Run SOURCE as module NAME, from a file, so that inspect finds it."""
    path = os.path.join(os.getcwd(), name + ".py")
    with open(path, "wb") as f:
        f.write(source)
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    return module


# ---- extensions that a source compiles ----

# What a builder (builder.py) found in the extensions' folder, for the runner of
# the same source: MAGIC, and by zlib the length of a packed list of [name, mode,
# mtime in ns, size], the list, the files' bytes.
MAGIC = b"kmext 1\n"
FILES_MAX = 4096
RAW_MAX = 128 << 20  # of what is compressed
ERROR_LINE = re.compile(
    r"\berror\s*:|\bfatal\s*:|undefined reference to|cannot find -l")
# No fault of the source's: it may compile elsewhere.
MACHINE = re.compile(
    r"No space left|out of memory|annot allocate|memory exhausted|Killed|"
    r"died due to signal|Resource temporarily")


class CompileError(Exception):
    """A compiler refused what the source has it compile."""


def extensions() -> str:
    return os.path.join(os.getcwd(), "ext")


def tools(cuda: bool) -> None:
    """Let what compiles find its tools and a place. The same for a builder as
    for the runner, or ninja would have to compile again."""
    home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    if not cuda:
        home = os.environ["CUDA_HOME"] = "/nonexistent"
    os.environ["PATH"] = ":".join([os.path.dirname(sys.executable),
                                   os.path.join(home, "bin"),
                                   "/usr/local/bin:/usr/bin:/bin"])
    os.environ["NVCC_APPEND_FLAGS"] = "--default-stream per-thread"
    os.environ["TORCH_EXTENSIONS_DIR"] = extensions()


def compile_error(x: BaseException):
    """X as a CompileError with the compiler's first words when it is torch's
    of a failed build, else None."""
    text = str(x) if type(x) is RuntimeError else ""
    if not text.startswith("Error building extension") or MACHINE.search(text):
        return None
    lines = [re.sub(r"/[^\s:'\"()]*/", "", line.strip())[:180]
             for line in text[:1 << 20].partition("': ")[2].splitlines()
             # The command lines, told before what they print, hold flags.
             if ERROR_LINE.search(line) and not line.startswith("[")]
    if not lines:
        return None
    return CompileError("\n".join(lines[:3])).with_traceback(x.__traceback__)


def run_source(source: bytes) -> types.ModuleType:
    try:
        return exec_source(source)
    except RuntimeError as x:
        told = compile_error(x)
        if told:
            raise Fault("build", told) from None
        raise


def is_plain(name: str) -> bool:
    parts = name.split("/")
    return (len(name) <= 512 and "\0" not in name and len(parts) <= 16
            and not {"", ".", ".."} & set(parts))


def unpack_built(built: bytes) -> bool:
    """Lay out what a builder found; False, and nothing there, when that has
    not its form. It comes from code like what runs here next."""
    root = extensions()
    try:
        if not built.startswith(MAGIC):
            raise ValueError("no magic")
        raw = zlib.decompressobj().decompress(built[len(MAGIC):], RAW_MAX)
        size, = struct.unpack_from(">I", raw)
        files, _ = unpack(raw[4:4 + size])
        at = 4 + size
        if len(files) > FILES_MAX:
            raise ValueError("too many files")
        for name, mode, mtime, size in files:
            if not is_plain(name) or not 0 <= size <= len(raw) - at:
                raise ValueError("wrong file")
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "xb") as f:
                f.write(raw[at:at + size])
                os.fchmod(f.fileno(), 0o600 | (mode & 0o100))
            os.utime(path, ns=(mtime, mtime))
            at += size
    except Exception:
        shutil.rmtree(root, ignore_errors=True)
        return False
    return True


def use_built() -> None:
    """Where no process may be started: an extension whose library is newer than
    its sources is taken as it is, without asking ninja."""
    from torch.utils import cpp_extension
    compile_it = cpp_extension._write_ninja_file_and_build_library

    def unless_there(**m):
        library = os.path.join(m["build_directory"],
                               m["name"] + cpp_extension.LIB_EXT)
        try:
            made = os.stat(library).st_mtime_ns
            if all(os.stat(s).st_mtime_ns <= made for s in m["sources"]):
                return
        except OSError:
            pass
        compile_it(**m)

    cpp_extension._write_ninja_file_and_build_library = unless_there


# ---- the evaluator's runner ----

def flatten(x, out: list, depth: int = 0) -> list:
    """Tensors of a result in order; None has none, numbers become tensors."""
    if isinstance(x, Tensor):
        out.append(x)
    elif isinstance(x, (bool, int, float)):
        out.append(torch.tensor(x))
    elif x is not None:
        if isinstance(x, dict):
            x = x.values()
        elif not isinstance(x, (tuple, list)):
            raise TypeError(f"output of type {type(x).__name__}")
        if depth > DEPTH:
            raise TypeError("outputs nested too deep")
        for y in x:
            flatten(y, out, depth + 1)
    return out


def describe(tensors) -> list:
    return [{"shape": list(t.shape), "dtype": str(t.dtype)[6:]}
            for t in tensors]


class Evaluator:
    """Operations of frames.h; each returns the fields of its reply."""

    WHERE = {"load": "load", "run": "forward", "mode": "construct",
             "cast": "construct"}
    TOOLS = False  # may it start compilers?

    def __init__(self):
        self.model = None
        self.path = ""
        self.arenas = {}
        self.args, self.ins, self.outs, self.taken = [], [], [], set()
        self.ops = {op[3:]: getattr(self, op) for op in dir(self)
                    if op.startswith("op_")}

    def tensor(self, arena: int, offset: int, shape, dtype: str):
        t = getattr(torch, dtype)
        n = math.prod(shape)
        if n == 0:
            return torch.empty(shape, dtype=t)
        return from_buffer(self.arenas[arena], dtype=t, count=n,
                           offset=offset).view(shape)

    def tensors(self, arena: int, offset: int, n: int, stride: int, shape,
                dtype: str):
        """N of them, STRIDE bytes apart; none is a view of what holds them all,
        nor has its version."""
        if n == 0:
            return []
        first = self.tensor(arena, offset, shape, dtype)
        if first.numel() == 0 or stride % first.element_size():
            return [self.tensor(arena, offset + k * stride, shape, dtype)
                    for k in range(n)]
        step = stride // first.element_size()
        count = (n - 1) * step + first.numel()
        whole = self.tensor(arena, offset, [count], dtype)
        return [t.data for t in whole.as_strided(
            (n, *shape), (step, *first.stride())).unbind()]

    def op_load(self, m, fds):
        source = read_fd(fds[0])
        seed = m.get("seed", 0)
        torch.set_num_threads(m.get("threads") or 1)
        self.path = os.path.join(os.getcwd(), "candidate.py")
        if len(fds) > 1 and unpack_built(read_fd(fds[1])) and not self.TOOLS:
            tools(False)
            use_built()
        module = run_source(source)
        what = getattr(module, m["class"], None)
        if not callable(what):
            raise NoClass(f"the source defines no {m['class']}")
        seed_all(seed)
        try:
            if isinstance(what, type):
                self.model = what(*m["init"])
                if hasattr(self.model, "eval"):
                    self.model.eval()
            else:
                self.model = what  # a free function
        except BaseException as x:
            told = compile_error(x)
            raise Fault("build" if told else "construct",
                        told or x) from None
        return {"state": [
            {"name": n, "shape": list(t.shape), "dtype": str(t.dtype)[6:],
             "param": isinstance(t, Parameter)} for n, t in self.state()]}

    def state(self) -> list:
        """Parameters, then buffers (those outside the state dict too)."""
        if not isinstance(self.model, Module):
            return []
        return (list(named_parameters(self.model))
                + list(named_buffers(self.model)))

    def op_arena(self, m, fds):
        self.arenas[m["arena"]] = mmap.mmap(fds[0], m["size"])
        os.close(fds[0])

    def op_state_get(self, m, fds):
        state = self.state()
        if len(state) != len(m["at"]):
            raise ValueError("the state has another length")
        with no_grad():
            for (_, t), at in zip(state, m["at"]):
                copy_(self.tensor(m["arena"], at, t.shape, str(t.dtype)[6:]),
                      t)

    def op_state_set(self, m, fds):
        given = {i["name"]: i for i in m["items"]}
        missing, used = [], 0
        with no_grad():
            for name, t in self.state():
                i = given.get(name)
                if i is None or list(t.shape) != i["shape"]:
                    missing.append(name)
                    continue
                copy_(t, self.tensor(m["arena"], i["offset"], i["shape"],
                                     i["dtype"]))
                used += 1
        return {"missing": missing[:64], "unused": len(given) - used}

    def op_mode(self, m, fds):
        if hasattr(self.model, "train"):
            self.model.train(m["train"])

    def op_cast(self, m, fds):
        if isinstance(self.model, Module):
            self.model.to(getattr(torch, m["dtype"]))

    def op_bind(self, m, fds):
        def build(node, ins):
            if "t" in node:
                return ins[node["t"]]
            if "l" in node:
                return [build(x, ins) for x in node["l"]]
            return node.get("v")

        def slots(specs, offsets):
            columns = [self.tensors(m["arena"], at, m["slots"], m["stride"],
                                    s["shape"], s["dtype"])
                       for s, at in zip(specs, offsets)]
            return [list(row) for row in zip(*columns)] or [
                [] for _ in range(m["slots"])]

        self.ins = slots(m["ins"], m["in_off"])
        self.outs = slots(m["outs"], m["out_off"])
        self.args = [tuple(build(x, i) for x in m["args"]) for i in self.ins]
        self.taken = {data_ptr(o) for slot in self.outs for o in slot} - {0}

    def op_run(self, m, fds):
        if m["n"] == 0:  # the judge measures its own overhead
            return {"nonce": m["nonce"], "outs": []}
        first, last = m["first"], m["first"] + m["n"]
        if not 0 <= first < last <= len(self.args):
            raise Fault("protocol", ValueError("no such slots"))
        links = self.links(m.get("chain"), first, last)
        with no_grad():
            y = self.forwards(first, last, links)
        with no_calls(), no_modes():
            return {"nonce": m["nonce"], "outs": describe(flatten(y, []))}

    def forwards(self, first: int, last: int, links):
        """Of these slots, in order; the last one's result."""
        model, args, outs = self.model, self.args, self.outs
        shapes = [o.shape for o in outs[first]]
        shape = shapes[0] if len(shapes) == 1 else None
        copy, tensor, y = copy_, Tensor, None
        pointer, taken, modes, calls = data_ptr, self.taken, n_modes, n_calls
        for i in range(first, last):
            y = model(*args[i])
            # Never let copy_ broadcast what has another shape: the rest keeps
            # the poison and the reply tells the shapes.
            if (type(y) is tensor and shape is not None and not modes()
                    and not calls()):
                if y.shape != shape:
                    break
                if pointer(y) in taken:
                    raise Fault("forward", ValueError(TAKEN))
                copy(outs[i][0], y)
            elif not self.put(outs[i], y, shapes):
                break
            if links is not None and i + 1 < last:
                to, frm = links[i - first]
                copy(to, frm)
        return y

    def put(self, outs, y, shapes) -> bool:
        """Copy results, whatever Y's class or a mode wants instead: a copy
        that they replace is one that the others pay for."""
        with no_calls(), no_modes():
            flat = flatten(y, [])
            if [t.shape for t in flat] != shapes:
                return False
            if any(data_ptr(t) in self.taken for t in flat):
                raise Fault("forward", ValueError(TAKEN))
            for o, t in zip(outs, flat):
                copy_(o, t)
        return True

    def links(self, chain, first: int, last: int):
        if chain is None:
            return None
        i, to, o, frm = chain
        return [(self.ins[s + 1][i].view(-1)[to],
                 self.outs[s][o].view(-1)[frm])
                for s in range(first, last - 1)]

    def serve(self, chan: Chan) -> None:
        while True:
            m, fds = chan.recv()
            op = m.get("op")
            if op == "bye":
                return
            try:
                reply = frame({"ok": True, **(self.ops[op](m, fds) or {})})
            except Fault as x:
                reply = frame(failure(x.where, x.cause, self.path))
            except BaseException as x:  # SystemExit too
                where = self.WHERE.get(op, "protocol")
                reply = frame(failure(where, x, self.path))
            chan.sock.send(reply)


def seed_all(seed: int) -> None:
    import random
    random.seed(seed)
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
    torch.manual_seed(seed)


# ---- the zygote ----

class JailConf(ctypes.Structure):
    """struct jail_conf of jail.h."""
    _fields_ = [("profile", ctypes.c_int32), ("cpu", ctypes.c_int32),
                ("memory", ctypes.c_int64), ("file_size", ctypes.c_int64),
                ("cpu_s", ctypes.c_int64), ("n_keep", ctypes.c_int32),
                ("keep", ctypes.c_int32 * 8), ("max_tasks", ctypes.c_int32),
                ("tmp_size", ctypes.c_int64),
                ("read_paths", ctypes.c_char_p * 8),
                ("require", ctypes.c_int32), ("gpu", ctypes.c_int32),
                ("out_fd", ctypes.c_int32),
                ("out_name", ctypes.c_char_p), ("out_max", ctypes.c_int64)]


def read_paths() -> list:
    """Folders that lazy imports need, beyond the system's."""
    found = []
    for p in (sys.prefix, sys.base_prefix, sys.exec_prefix,
              os.path.dirname(os.path.realpath(sys.executable))):
        if p != "/" and not any(p == q or p.startswith(q + "/") for q in found + ["/usr"]):
            found.append(p)
    return found


def fork_runner(jail, m, fds):
    """Jailed fork: (pid, level) here, None in the runner."""
    c = JailConf(profile=m["profile"], cpu=m["cpu"], memory=m["memory"],
                 file_size=m["file_size"], cpu_s=m["cpu_s"], n_keep=1,
                 max_tasks=m["tasks"], tmp_size=m["tmp_size"],
                 require=m["require"], gpu=m["gpu"] > 0, out_fd=-1)
    c.keep[0] = fds[0]
    for i, p in enumerate(read_paths()):
        c.read_paths[i] = os.fsencode(p)
    level = ctypes.c_int32()
    why = ctypes.create_string_buffer(200)
    # jail_fork does not go through os.fork: Python's own duties by hand.
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = jail.jail_fork(ctypes.byref(c), fds[1], ctypes.byref(level), why,
                         len(why))
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return None
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(why.value.decode())
    return pid, level.value


# Forks of a zygote after which its memory is worth to be gathered in large
# pages: that takes a second, and saves three quarters of each later fork.
FORKS_BEFORE_LARGE = 6
MADV_COLLAPSE = 25


def use_large_pages(libc) -> None:
    """Anonymous memory in large pages, whose entries a fork need not copy one
    by one. Kernels before 6.1 refuse it, and all stays as it is."""
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    size = 2 << 20
    with open("/proc/self/maps") as f:
        maps = [line.split() for line in f]
    for fields in maps:
        if fields[1] != "rw-p" or fields[5:] not in ([], ["[heap]"]):
            continue
        start, end = (int(x, 16) for x in fields[0].split("-"))
        start, end = -(-start // size) * size, end // size * size
        if start < end:
            libc.madvise(start, end - start, MADV_COLLAPSE)


def run_as(m: dict, fd: int, versions: dict) -> None:
    """Life of a runner, as asked for by M."""
    gc.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for k in ("HOME", "TMPDIR", "XDG_CACHE_HOME"):
        os.environ[k] = os.getcwd()
    chan = Chan(fd)
    if m["gpu"]:
        os.environ["KM_GPU"] = str(m["gpu"] - 1)
    main = (Evaluator() if m["role"] == "evaluate" else
            sys.modules["km_probe"])
    chan.send({"op": "hello", "kind": "torch", "versions": versions})
    main.serve(chan)


def zygote_main(jail_fd: int, probe_fd: int) -> None:
    global torch, numpy, Tensor, Module, Parameter, no_grad, copy_
    global from_buffer, named_parameters, named_buffers, data_ptr
    global n_modes, n_calls, no_modes, no_calls, library
    gc.disable()  # nothing of what is imported ends before the forks
    chan = Chan(3)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # inits reap themselves
    jail = library = ctypes.PyDLL(f"/proc/self/fd/{jail_fd}")
    os.close(jail_fd)

    import torch
    versions = {"python": sys.version.split()[0],
                "torch": str(torch.__version__)}
    numpy = None
    for name in ("numpy", "triton", "einops"):
        try:
            module = __import__(name)
        except ImportError:
            continue
        versions[name] = str(getattr(module, "__version__", ""))
        if name == "numpy":
            numpy = module
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    # Which vector instructions there are is looked up once, in /proc: in the
    # jail, where there is none, torch would do without.
    torch.backends.cpu.get_cpu_capability()
    # By default freed tensors go back to the system or not as the heap happens
    # to lie, and with them a third of a forward's time: keep them always.
    libc = ctypes.CDLL(None)
    libc.mallopt(-3, 32 << 20)  # M_MMAP_THRESHOLD, the highest there is
    libc.mallopt(-1, 1 << 30)   # M_TRIM_THRESHOLD
    # Taken before foreign code can patch torch.
    Tensor, no_grad, from_buffer = torch.Tensor, torch.no_grad, torch.frombuffer
    Module, Parameter = torch.nn.Module, torch.nn.Parameter
    copy_, data_ptr = Tensor.copy_, Tensor.data_ptr
    # Modes of __torch_dispatch__, and those of __torch_function__.
    n_modes = torch._C._len_torch_dispatch_stack
    n_calls = torch._C._len_torch_function_stack
    no_modes = torch._C._DisableTorchDispatch
    no_calls = torch._C.DisableTorchFunction
    named_parameters = Module.named_parameters
    named_buffers = Module.named_buffers

    if probe_fd >= 0:
        probe = types.ModuleType("km_probe")
        sys.modules["km_probe"] = probe
        exec(compile(read_fd(probe_fd), "km_probe.py", "exec"),
             probe.__dict__)
    many = probe_fd >= 0 and getattr(probe, "MANY_FORKS", False)
    if many:
        libc.mallopt(-4, 0)  # M_MMAP_MAX: the larger ones too
    lacks = ctypes.create_string_buffer(200)
    level = jail.jail_probe(lacks, len(lacks))
    gc.freeze()
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise RuntimeError(f"torch started {threads - 1} threads by itself")
    chan.send({"op": "ready", **versions, "level": level,
               "lacks": lacks.value.decode()})
    forks = 0
    while True:
        m, fds = chan.recv()
        # Not while a runner shares its pages, nor while an evaluator measures.
        if many and forks == FORKS_BEFORE_LARGE:
            use_large_pages(libc)
        try:
            done = fork_runner(jail, m, fds)
        except BaseException as x:
            reply = failure("fork", x)
        else:
            if done is None:
                chan.sock.detach()  # closed by the jail, its number is free
                try:
                    run_as(m, fds[0], versions)
                finally:
                    os._exit(0)
            reply = {"ok": True, "pid": done[0], "level": done[1]}
        for fd in fds:
            os.close(fd)
        chan.send(reply)
        forks += 1
