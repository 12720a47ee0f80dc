# SPDX-License-Identifier: MIT
"""The PyTorch runner on a GPU: the module km_probe of a judge's zygote.

As km_runner.Evaluator, but arenas are memory of the GPU that the judge made,
and a ring may be captured once and replayed. Everything runs on the per-thread
default stream, for which kernels launched without a stream are compiled too:
a capture on it then holds them.
"""
import ctypes
import gc
import os
import sys

from km_runner import (Evaluator, Fault, Module, describe, failure, flatten,
                       no_calls, no_grad, no_modes, torch)

PER_THREAD = 2  # the handle cudaStreamPerThread
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
    """Let this process see GPU number GPU of those it could see, as its first;
    and let what compiles find its tools and a place."""
    shown = [x for x in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
             if x]
    os.environ["CUDA_VISIBLE_DEVICES"] = shown[gpu] if shown else str(gpu)
    home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    os.environ["PATH"] = ":".join([os.path.dirname(sys.executable),
                                   os.path.join(home, "bin"),
                                   "/usr/local/bin:/usr/bin:/bin"])
    os.environ.pop("PYTORCH_NVML_BASED_CUDA_CHECK", None)
    os.environ["NVCC_APPEND_FLAGS"] = "--default-stream per-thread"
    os.environ["TRITON_CACHE_DIR"] = os.path.join(os.getcwd(), "triton")
    os.environ["TORCH_EXTENSIONS_DIR"] = os.path.join(os.getcwd(), "ext")


class Cuda(Evaluator):
    def __init__(self, gpu: int):
        super().__init__()
        narrow(gpu)
        self.driver = ctypes.CDLL("libcuda.so.1")
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
        self.graph, self.result = None, None
        self.empty = None
        self.empty = self.captured(self.tick, torch.zeros(1, device="cuda"))
        self.ops = {op[3:]: getattr(self, op) for op in dir(self)
                    if op.startswith("op_")}

    @staticmethod
    def tick(x):
        x.add_(1)

    def captured(self, function, *args):
        """A graph of one call, after one that warms up for the first."""
        if self.empty is None:
            function(*args)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream):
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
        self.arenas[m["arena"]] = (torch.as_tensor(Bytes(at.value, size),
                                                   device="cuda"),
                                   handle, at, size)

    def drop(self, arena: int) -> None:
        """Give back an arena that another takes the place of: the judge gave
        it up already, its memory stays until no one maps it."""
        old = self.arenas.pop(arena, None)
        if old is None:
            return
        self.graph, self.result = None, None
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
        self.graph, self.result = None, None
        super().op_bind(m, fds)

    def op_capture(self, m, fds):
        first, last = m["first"], m["first"] + m["n"]
        if not 0 <= first < last <= len(self.args):
            raise Fault("protocol", ValueError("no such slots"))
        links = self.links(m.get("chain"), first, last)
        self.graph, self.result = None, None
        gc.collect()
        try:
            with no_grad():
                self.graph = self.captured(self.forwards, first, last, links)
        except BaseException as x:
            self.wait()
            raise Fault("capture", x) from None
        self.wait()

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
