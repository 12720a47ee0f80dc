# SPDX-License-Identifier: MIT
"""The PyTorch runner on a GPU: the module km_probe of a judge's zygote.

As km_runner.Evaluator, but arenas are memory of the GPU that the judge made,
and a ring may be captured once and replayed. Then results stay where they are
computed, in an arena from which torch allocates meanwhile: a copy would be a
large part of many a forward. Everything runs on the per-thread
default stream, for which kernels launched without a stream are compiled too:
a capture on it then holds them.
"""
import ctypes
import gc
import os

from km_runner import (Evaluator, Fault, Module, Tensor, copy_, data_ptr,
                       describe, failure, flatten, library, no_calls, no_grad,
                       no_modes, tools, torch)

# ATen's operators that are products, and parts of the names of those that hold
# some.
PRODUCTS = {"mm", "addmm", "bmm", "baddbmm", "addbmm", "mv", "addmv", "dot",
            "vdot", "matmul", "linear"}
WITH_PRODUCTS = ("convolution", "attention", "_rnn", "transformer_encoder")
PER_THREAD = 2  # the handle cudaStreamPerThread
RESULTS = 2     # the arena that torch allocates from
CUDA_ON_DEVICE, CUDA_READ_WRITE, CUDA_HANDLE_FD = 1, 3, 1


class Place(ctypes.Structure):
    """CUmemAccessDesc."""
    _fields_ = [("location", ctypes.c_int), ("device", ctypes.c_int),
                ("flags", ctypes.c_int)]


class Bytes:
    """Memory at an address, for torch.as_tensor."""

    def __init__(self, at: int, n: int):
        self.__cuda_array_interface__ = {
            "shape": (n,), "typestr": "|u1", "data": (at, False),
            "version": 3, "strides": None}


def narrow(gpu: int) -> None:
    """Let this process see GPU number GPU of those it could see, as its
    first."""
    shown = [x for x in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
             if x]
    os.environ["CUDA_VISIBLE_DEVICES"] = shown[gpu] if shown else str(gpu)
    os.environ.pop("PYTORCH_NVML_BASED_CUDA_CHECK", None)
    os.environ["TRITON_CACHE_DIR"] = os.path.join(os.getcwd(), "triton")
    tools(True)


class Cuda(Evaluator):
    TOOLS = True

    def __init__(self, gpu: int):
        super().__init__()
        narrow(gpu)
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.runtime = ctypes.CDLL(
            f"libcudart.so.{torch.version.cuda.partition('.')[0]}")
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cudnn.allow_tf32 = True
        torch.cuda.init()
        self.stream = torch.cuda.ExternalStream(PER_THREAD,
                                                device=torch.device("cuda", 0))
        torch.cuda.set_stream(self.stream)
        self.wait = torch._C._cuda_synchronize
        self.replay = torch.cuda.CUDAGraph.replay
        major, minor = torch.cuda.get_device_capability()
        os.environ["TORCH_CUDA_ARCH_LIST"] = f"{major}.{minor}"
        self.graph, self.result, self.kept = None, None, []
        self.pool, self.results = None, (0, 0)
        self.empty = None
        self.ticks = torch.zeros(1, device="cuda")
        self.empty = self.captured(self.tick)
        self.ops = {op[3:]: getattr(self, op) for op in dir(self)
                    if op.startswith("op_")}

    def tick(self):
        self.ticks.add_(1)

    def captured(self, function, *args, pool=None):
        """A graph of one call, after one that warms up for the first."""
        if self.empty is None:
            function(*args)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream, pool=pool):
            self.result = function(*args)
        return graph

    def check(self, rc: int, what: str) -> None:
        if rc:
            raise RuntimeError(f"{what}: error {rc} of the driver")

    def op_arena(self, m, fds):
        """Map the judge's memory; the descriptor is no longer needed then."""
        size = m["size"]
        handle, at = ctypes.c_uint64(), ctypes.c_uint64()
        d = self.driver
        self.check(d.cuMemImportFromShareableHandle(
            ctypes.byref(handle), ctypes.c_void_p(fds[0]), CUDA_HANDLE_FD),
            "arena")
        os.close(fds[0])
        self.check(d.cuMemAddressReserve(
            ctypes.byref(at), ctypes.c_size_t(size), ctypes.c_size_t(0),
            ctypes.c_uint64(0), ctypes.c_uint64(0)), "addresses")
        self.check(d.cuMemMap(at, ctypes.c_size_t(size), ctypes.c_size_t(0),
                              handle, ctypes.c_uint64(0)), "arena")
        place = Place(CUDA_ON_DEVICE, 0, CUDA_READ_WRITE)
        self.check(d.cuMemSetAccess(at, ctypes.c_size_t(size),
                                    ctypes.byref(place), ctypes.c_size_t(1)),
                   "arena")
        self.drop(m["arena"])
        if m["arena"] == RESULTS:
            self.take_results(at.value, size)
        self.arenas[m["arena"]] = (torch.as_tensor(Bytes(at.value, size),
                                                   device="cuda"),
                                   handle, at, size)

    def take_results(self, at: int, size: int) -> None:
        """Let torch allocate from there, behind a table of the results."""
        def pointer(name):
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value

        library.km_arena_set(ctypes.c_uint64(at), ctypes.c_uint64(size))
        library.km_arena_alloc.restype = ctypes.c_void_p
        self.allocator = torch._C._cuda_customAllocator(
            pointer("km_arena_alloc"), pointer("km_arena_free"))
        self.pool = torch.cuda.MemPool(self.allocator)
        self.results = at, size

    def forget(self) -> None:
        self.graph, self.result, self.kept = None, None, []

    def recover(self) -> None:
        """After a capture that broke: the next call must not find its error."""
        self.forget()
        self.wait()
        self.runtime.cudaGetLastError()

    def drop(self, arena: int) -> None:
        """Give back an arena that another takes the place of: the judge gave
        it up already, its memory stays until no one maps it."""
        old = self.arenas.pop(arena, None)
        if old is None:
            return
        self.forget()
        if arena == RESULTS:
            self.pool = None
            gc.collect()
        else:  # what is bound lies there
            self.args, self.ins, self.outs = [], [], []
        self.wait()
        _, handle, at, size = old
        self.driver.cuMemUnmap(at, ctypes.c_size_t(size))
        self.driver.cuMemAddressFree(at, ctypes.c_size_t(size))
        self.driver.cuMemRelease(handle)

    def tensor(self, arena: int, offset: int, shape, dtype: str):
        t = getattr(torch, dtype)
        n = t.itemsize
        for s in shape:
            n *= s
        if n == 0:
            return torch.empty(shape, dtype=t, device="cuda")
        return self.arenas[arena][0][offset:offset + n].view(t).view(shape)

    def placed(self):
        if isinstance(self.model, Module):
            self.model.to("cuda")

    def op_load(self, m, fds):
        reply = super().op_load(m, fds)
        try:
            self.placed()
            self.wait()
        except BaseException as x:
            raise Fault("construct", x) from None
        return reply

    def op_state_get(self, m, fds):
        super().op_state_get(m, fds)
        self.wait()

    def op_state_set(self, m, fds):
        reply = super().op_state_set(m, fds)
        self.wait()
        return reply

    def op_mode(self, m, fds):
        """Also the judge's empty call: what a replay costs besides its
        work."""
        super().op_mode(m, fds)
        self.replay(self.empty)
        self.wait()

    def op_bind(self, m, fds):
        self.forget()
        super().op_bind(m, fds)

    def keeping(self, first: int, last: int, chain):
        """As forwards, but every result stays where it is."""
        model, args, kept = self.model, self.args, []
        for i in range(first, last):
            flat = flatten(model(*args[i]), [])
            kept.append(flat)
            if chain is not None and i + 1 < last:
                to, element, out, frm = chain
                copy_(self.ins[i + 1][to].view(-1)[element],
                      flat[out].view(-1)[frm])
        return kept

    def places(self, kept):
        """Offsets of all results in their arena, or None: then they have to be
        copied, since they lie elsewhere, or not as the judge reads them."""
        at, size = self.results
        found = []
        for i, flat in enumerate(kept):
            outs = self.outs[i]
            if len(flat) != len(outs):
                return None
            for y, o in zip(flat, outs):
                if (type(y) is not Tensor or y.shape != o.shape
                        or y.dtype != o.dtype or not y.is_contiguous()
                        or y.device != o.device):
                    return None
                offset = data_ptr(y) - at if y.numel() else 0
                if not 0 <= offset <= size - y.numel() * y.element_size():
                    return None
                found.append(offset)
        n = len(self.outs[0])
        for i, o in enumerate(self.outs[0]):
            # One buffer returned again and again holds but the last.
            column = sorted(found[i::n])
            if any(b - a < o.numel() * o.element_size()
                   for a, b in zip(column, column[1:])):
                return None
        return found

    def capture_kept(self, first, last, chain):
        """Captured, and where the results are; None where they have to be
        copied."""
        at, size = self.results
        n = (last - first) * len(self.outs[first]) * 8
        if self.pool is None or n == 0:
            return None
        base = torch.as_tensor(Bytes(at, size), device="cuda")
        with torch.cuda.use_mem_pool(self.pool):  # keep its place
            table = torch.empty(n, dtype=torch.uint8, device="cuda")
        if data_ptr(table) < at or data_ptr(table) + n > at + size:
            return None
        try:
            with no_grad():
                self.graph = self.captured(self.keeping, first, last, chain,
                                           pool=self.pool.id)
        except (AttributeError, IndexError, TypeError, RuntimeError):
            self.recover()
            return None
        self.kept, self.result = self.result, self.result[-1]
        found = self.places(self.kept)
        if found is None:
            self.forget()
            return None
        offset = data_ptr(table) - at
        copy_(base[offset:offset + n].view(torch.int64),
              torch.tensor(found, dtype=torch.int64))
        self.kept.append(table)
        return offset

    def op_capture(self, m, fds):
        first, last = m["first"], m["first"] + m["n"]
        if not 0 <= first < last <= len(self.args):
            raise Fault("protocol", ValueError("no such slots"))
        self.forget()
        gc.collect()
        table = None
        if m["keep"]:
            table = self.capture_kept(first, last, m.get("chain"))
        if table is None:
            links = self.links(m.get("chain"), first, last)
            try:
                with no_grad():
                    self.graph = self.captured(self.forwards, first, last,
                                               links)
            except BaseException as x:
                self.recover()
                raise Fault("capture", x) from None
        self.wait()
        return {"table": table}

    def op_products(self, m, fds):
        """Whether a forward has what TF32 is allowed for."""
        from torch.utils._python_dispatch import TorchDispatchMode
        seen = set()

        class Watch(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                seen.add(func.overloadpacket.__name__)
                return func(*args, **(kwargs or {}))

        with no_grad(), Watch():
            self.model(*self.args[0])
        self.wait()
        return {"products": any(
            name in PRODUCTS or any(p in name for p in WITH_PRODUCTS)
            for name in seen)}

    def op_profile(self, m, fds):
        """Kernels of some forwards, as CUPTI tells this process of them."""
        from torch.profiler import ProfilerActivity, profile
        n = min(m["n"], len(self.args))
        with no_grad(), profile(activities=[ProfilerActivity.CUDA]) as p:
            self.forwards(0, n, None)
            self.wait()
        spent = [(e.self_device_time_total, e.key) for e in p.key_averages()]
        spent.sort(reverse=True)
        return {"kernels": [{"name": name[:200], "ns": 1e3 * us / n}
                            for us, name in spent[:32] if us > 0]}

    def op_run(self, m, fds):
        if m.get("graph"):
            self.replay(self.graph)
            self.wait()
            with no_calls(), no_modes():
                return {"nonce": m["nonce"],
                        "outs": describe(flatten(self.result, []))}
        reply = super().op_run(m, fds)
        self.wait()
        return reply


def serve(chan) -> None:
    try:
        runner = Cuda(int(os.environ.pop("KM_GPU")))
    except BaseException as x:
        while True:  # every request hears why
            chan.recv()
            chan.send(failure("load", x))
    runner.serve(chan)
