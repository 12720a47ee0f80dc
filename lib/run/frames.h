/* SPDX-License-Identifier: MIT */
/*
 * Frames between a C program and a runner: one msgpack map per message on a
 * SOCK_SEQPACKET socket, at most FRAME_MAX bytes and FRAME_FDS descriptors.
 * The other side is hostile: what comes in is checked by val_unpack, and the
 * sender's pid is the kernel's word (SCM_CREDENTIALS), not the sender's.
 *
 * Requests carry `op`; every request gets exactly one reply, {ok: true, ...} or
 * {ok: false, where, class, message, line}: `where` is load, construct, build
 * (a compiler refused), forward or protocol, `class` the exception's class,
 * `line` the line in the source or 0. Text is cut by the runner, and again by
 * the reader. Ops of the evaluator's runners (runner.py, km-runner-c and
 * km-runner-cuda):
 *
 *  load      {role: "reference" | "candidate", class: "Model", init: [...],
 *             seed, threads} + fd of the source (or of the shared object), and
 *             maybe of what a builder made of that source
 *            -> {state: [{name, shape, dtype, param: bool}]}: parameters, then
 *            buffers (those outside of the state dict too). class may name a
 *            free function: no state, called as it is
 *  arena     {arena: n, size} + fd          maps it shared
 *  state_get {arena, at: [offset...]}       writes the state there (in order)
 *  state_set {arena, items: [{name, offset, shape, dtype}]}  copies in place
 *            what matches by name and shape -> {missing: [...], unused: n}
 *  mode      {train: bool}
 *  cast      {dtype: "float64"}             reference only
 *  bind      {arena, slots, stride, args: skeleton, ins: [{shape, dtype}],
 *             in_off: [...], outs: [{shape, dtype}], out_off: [...]}
 *            offsets of slot 0; those of slot k are k * stride further on.
 *            skeleton mirrors task.inputs:
 *              {t: index}  a tensor
 *              {v: value}
 *              {l: [...]}  a list
 *  capture   {first, n, chain, keep}        of a GPU: as run, but captured, and
 *            computed by every run of `graph` until the next bind
 *            -> {table}: where the places of results are, see runner_cuda.py
 *  run       {first, n, nonce, chain, graph}
 *            forward of slots first .. first+n-1 in order, each output copied
 *            to its place unless it lies there. chain: nil, or [in, element,
 *            out, element]: that element of output i goes into that element of
 *            input i+1 (not beyond the last). graph: what was captured. An
 *            output of another shape than bound ends the ring there and is not
 *            copied. n = 0 is allowed at any time and does nothing
 *            -> {nonce, outs: [{shape, dtype}]}, shapes of the last forward
 *  products  {}   of a GPU's PyTorch runner: a forward of slot 0
 *            -> {products: bool}: whether it multiplies matrices or convolves
 *  profile   {n}  of a GPU's PyTorch runner: forwards of the first n slots
 *            -> {kernels: [{name, ns}]}, the longest first
 *  bye       {}                             leaves, without a reply
 *
 * A builder (builder.py) has one request; where is build for what a compiler
 * refused, its words the message:
 *
 *  build     {class: "ModelNew", init: [...], arch: "9.0" | ""} + fd of the
 *             source and of memory for what it makes
 *            -> {size}                      bytes of it, 0 = nothing
 *
 * The first message is the runner's own: {op: "hello", kind: "torch" | "c" |
 * "cuda", versions: {...}}, sent before any foreign code is loaded.
 */
#ifndef KM_RUN_FRAMES_H
#define KM_RUN_FRAMES_H

#include "val.h"

#define FRAME_MAX (60 * 1024)
#define FRAME_FDS 8

/* Send MSG with N descriptors (kept open here). -1: ERR_CRASH when the peer
 * is gone, ERR_TIMEOUT, ERR_TOO_LARGE. DEADLINE is absolute, CLOCK_MONOTONIC
 * seconds as now_s(); 0 = none. */
int frame_send(int sock, const struct val *msg, const int *fds, size_t n,
               double deadline, struct err *e) MUST_USE;
/* Receive one frame into A. Descriptors that came along go to FDS (at most
 * *N_FDS, rest closed; both may be NULL: all closed). PID (may be NULL) is
 * the sender's in our pid namespace when SO_PASSCRED is set. AT (may be NULL)
 * is now_s() right after the kernel gave the message. -1: ERR_CRASH at end of
 * stream, ERR_TIMEOUT, ERR_PROTOCOL for anything unacceptable. */
int frame_recv(int sock, struct arena *a, struct val **out, int *fds,
               size_t *n_fds, pid_t *pid, double *at, double deadline,
               struct err *e) MUST_USE;
/* frame_send then frame_recv; a reply {ok: false} is 0 too: look at `ok`. */
int frame_call(int sock, struct arena *a, const struct val *msg, const int *fds,
               size_t n, double deadline, struct val **reply,
               struct err *e) MUST_USE;

#endif
