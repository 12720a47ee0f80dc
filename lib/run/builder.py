# SPDX-License-Identifier: MIT
"""The builder: the module km_probe of a zygote that compiles ahead.

It runs a candidate's source as a runner would, without a GPU, and hands back
what torch.utils.cpp_extension left in its folder, for the runner of the same
source to begin with.
"""
import os
import stat
import struct
import zlib

from km_runner import (FILES_MAX, MAGIC, RAW_MAX, Fault, compile_error, extensions,
                       failure, frame, is_plain, pack, read_fd, run_source,
                       tools, torch)


def pretend(arch: str) -> None:
    """Say that the judge's GPU is there, to sources that ask before they
    compile; what they then do with it fails."""
    os.environ["TORCH_CUDA_ARCH_LIST"] = arch
    major, _, minor = arch.partition(".")
    capability = int(major), int(minor)
    torch.cuda.is_available = lambda: True
    torch.cuda.get_device_capability = lambda *_, **__: capability


def found() -> list:
    """[name, path, stat] of the plain files; not of the lock, which a build that
    was broken off has left."""
    root, files = extensions(), []
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            st = os.lstat(path)
            name = os.path.relpath(path, root)
            if (stat.S_ISREG(st.st_mode) and is_plain(name)
                    and os.path.basename(name) != "lock"):
                files.append([name, path, st])
                if len(files) > FILES_MAX:
                    return []
    return sorted(files)


def libraries(files) -> bool:
    return any(name.endswith(".so") for name, _, _ in files)


def write(out: int, files) -> int:
    """The artefact, to OUT; its size, 0 when there is none."""
    table = bytearray()
    pack([[name, st.st_mode & 0o777, st.st_mtime_ns, st.st_size]
          for name, _, st in files], table)
    size = 4 + len(table) + sum(st.st_size for *_, st in files)
    if size > RAW_MAX or not libraries(files):
        return 0
    squeeze = zlib.compressobj(1)  # five times smaller, in no time
    with os.fdopen(out, "wb") as f:
        f.write(MAGIC + squeeze.compress(struct.pack(">I", len(table))
                                         + table))
        for _, path, st in files:
            with open(path, "rb") as g:
                left = st.st_size
                while left:
                    block = g.read(min(left, 1 << 20))
                    if not block:
                        return 0
                    f.write(squeeze.compress(block))
                    left -= len(block)
        f.write(squeeze.flush())
        return f.tell()


def construct(what, init) -> None:
    try:
        what(*init)
    except RuntimeError as x:
        told = compile_error(x)
        if told:
            raise Fault("build", told) from None
        raise


def build(m, fds) -> int:
    source = read_fd(fds[0])
    tools(bool(m["arch"]))
    if m["arch"]:
        pretend(m["arch"])
    try:
        module = run_source(source)
        # Some compile in the constructor.
        what = getattr(module, m["class"], None)
        if isinstance(what, type) and not libraries(found()):
            construct(what, m["init"])
    except Fault:
        raise
    except BaseException:
        pass  # there is no GPU; the runner will tell
    return write(fds[1], found())


def serve(chan) -> None:
    m, fds = chan.recv()
    try:
        reply = frame({"ok": True, "size": build(m, fds)})
    except Fault as x:
        reply = frame(failure(x.where, x.cause,
                              os.path.join(os.getcwd(), "candidate.py")))
    except BaseException as x:
        reply = frame(failure("load", x))
    chan.sock.send(reply)
