/* SPDX-License-Identifier: MIT */
/* Any bytes as one message of a runner, with as many descriptors as the first
 * byte says: frame_recv accepts a map or refuses, and no descriptor stays. */
#include "base.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "run/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SEND_FDS 12 /* more than a frame may have */

static void send_raw(int sock, const uint8_t *data, size_t size, int n_fds)
{
    char control[CMSG_SPACE(SEND_FDS * sizeof(int))] = {0};
    int fds[SEND_FDS];
    struct iovec iov = {(void *)(uintptr_t)data, size};
    struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};

    for (int i = 0; i < n_fds; i++)
        fds[i] = sock;
    if (n_fds > 0) {
        h.msg_control = control;
        h.msg_controllen = CMSG_SPACE((size_t)n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, (size_t)n_fds * sizeof(int));
    }
    if (sendmsg(sock, &h, 0) < 0)
        abort();
}

/* The lowest free descriptor: it tells a leak. */
static int lowest_free(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    close(fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = ARENA_INIT;
    struct val *v = NULL;
    struct err e = {0};
    int pair[2], fds[FRAME_FDS], on = 1, before, n_sent;
    size_t n = FRAME_FDS;
    pid_t pid;
    double at;

    if (size == 0 || size > FRAME_MAX + 100)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
        setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
        abort();
    before = lowest_free();
    n_sent = data[0] % (SEND_FDS + 1);
    send_raw(pair[1], data + 1, size - 1, n_sent);
    if (frame_recv(pair[0], &a, &v, fds, &n, &pid, &at, 1, &e) == 0) {
        if (!v || v->type != VAL_MAP || pid != getpid() || n > FRAME_FDS ||
            (int)n != n_sent)
            abort();
        for (size_t i = 0; i < n; i++)
            close(fds[i]);
        /* What was accepted can be said again. */
        if (frame_send(pair[0], v, NULL, 0, 1, &e) < 0 &&
            e.code != ERR_TOO_LARGE)
            abort();
    } else if (n != 0 || e.code == ERR_NONE) {
        abort();
    }
    if (lowest_free() != before)
        abort();
    close(pair[0]);
    close(pair[1]);
    arena_release(&a);
    return 0;
}
