/* SPDX-License-Identifier: MIT */
/* Frames over SOCK_SEQPACKET; see frames.h. */
#include "base.h"

#include <poll.h>
#include <sys/socket.h>

#include "proc.h"
#include "run/frames.h"

/* Room for the descriptors and one struct ucred. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(FRAME_FDS * sizeof(int)) +
               CMSG_SPACE(sizeof(struct ucred))];
};

/* Wait until EVENTS hold; 0, or -1 with ERR_TIMEOUT. */
static int wait_for(int sock, short events, double deadline, const char *what,
                    struct err *e)
{
    struct pollfd p = {sock, events, 0};
    int ms = -1, r;

    for (;;) {
        if (deadline > 0) {
            double left = deadline - now_s();
            /* Rounded up: waking early would spin. */
            ms = left <= 0 ? 0 : (int)MIN(left * 1e3 + 1, 1e9);
        }
        r = poll(&p, 1, ms);
        if (r > 0)
            return 0;
        if (r < 0 && errno != EINTR)
            return err_sys(e, "cannot wait for a frame");
        if (r == 0 && deadline > 0 && now_s() >= deadline)
            return err_set(e, ERR_TIMEOUT, "no %s before the deadline", what);
    }
}

static bool peer_gone(int error)
{
    return error == EPIPE || error == ECONNRESET || error == ENOTCONN ||
           error == ECONNREFUSED;
}

int frame_send(int sock, const struct val *msg, const int *fds, size_t n,
               double deadline, struct err *e)
{
    struct buf b = BUF_INIT(FRAME_MAX);
    union control control = {0};
    struct iovec iov;
    struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};
    int status = -1;

    if (n > FRAME_FDS) {
        err_set(e, ERR_INTERNAL, "too many descriptors for a frame");
        goto out;
    }
    if (val_pack(&b, msg) < 0) {
        err_set(e, ERR_TOO_LARGE, "frame over %d bytes", FRAME_MAX);
        goto out;
    }
    iov = (struct iovec){b.p, b.n};
    if (n > 0) {
        h.msg_control = control.bytes;
        h.msg_controllen = CMSG_SPACE(n * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n * sizeof(int));
    }
    for (;;) {
        if (sendmsg(sock, &h, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
            status = 0;
            goto out;
        }
        if (peer_gone(errno)) {
            err_set(e, ERR_CRASH, "the other process is gone");
            goto out;
        }
        if (errno != EAGAIN && errno != EINTR) {
            err_sys(e, "cannot send a frame");
            goto out;
        }
        if (wait_for(sock, POLLOUT, deadline, "room for a frame", e) < 0)
            goto out;
    }
out:
    buf_release(&b);
    return status;
}

/* Close what is beyond CAP, keep the rest in FDS. */
static void take_control(struct msghdr *h, int *fds, size_t cap, size_t *n,
                         pid_t *pid)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_CREDENTIALS && pid &&
            c->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
            struct ucred u;
            memcpy(&u, CMSG_DATA(c), sizeof(u));
            *pid = u.pid;
        }
        if (c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t got = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < got; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
            if (*n < cap)
                fds[(*n)++] = fd;
            else
                close(fd);
        }
    }
}

int frame_recv(int sock, struct arena *a, struct val **out, int *fds,
               size_t *n_fds, pid_t *pid, double *at, double deadline,
               struct err *e)
{
    size_t cap = fds && n_fds ? *n_fds : 0, n = 0, used;
    char *bytes = arena_alloc(a, FRAME_MAX + 1);
    union control control;
    struct iovec iov = {bytes, FRAME_MAX + 1};
    struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t got;
    struct err inner = {0};

    if (n_fds)
        *n_fds = 0;
    if (pid)
        *pid = 0;
    for (;;) {
        h.msg_control = control.bytes;
        h.msg_controllen = sizeof(control);
        got = recvmsg(sock, &h, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (got >= 0)
            break;
        if (peer_gone(errno))
            return err_set(e, ERR_CRASH, "the other process is gone");
        if (errno != EAGAIN && errno != EINTR)
            return err_sys(e, "cannot receive a frame");
        if (wait_for(sock, POLLIN, deadline, "answer", e) < 0)
            return -1;
    }
    if (at)
        *at = now_s();
    take_control(&h, fds, cap, &n, pid);
    if (n_fds)
        *n_fds = n;

    /* A message of no bytes looks like the end of the stream; no honest
     * sender makes one. */
    if (got == 0)
        err_set(&inner, ERR_CRASH, "the other process is gone");
    else if (got > FRAME_MAX || (h.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        err_set(&inner, ERR_PROTOCOL, "frame too large");
    else if (val_unpack(a, (struct span){bytes, (size_t)got}, &used, out,
                        &inner) != 0 ||
             used != (size_t)got || (*out)->type != VAL_MAP)
        err_set(&inner, ERR_PROTOCOL, "frame is not one msgpack map");
    else
        return 0;

    for (size_t i = 0; i < n; i++)
        close(fds[i]);
    if (n_fds)
        *n_fds = 0;
    if (e)
        *e = inner;
    return -1;
}

int frame_call(int sock, struct arena *a, const struct val *msg, const int *fds,
               size_t n, double deadline, struct val **reply, struct err *e)
{
    if (frame_send(sock, msg, fds, n, deadline, e) < 0)
        return -1;
    return frame_recv(sock, a, reply, NULL, NULL, NULL, NULL, deadline, e);
}
