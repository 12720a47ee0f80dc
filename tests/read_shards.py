# SPDX-License-Identifier: MIT
import msgpack, zstandard
with open("sft-00000.msgpack.zst", "rb") as f:
    for rec in msgpack.Unpacker(zstandard.ZstdDecompressor().stream_reader(f, read_across_frames=True)): print(rec["kind"])
