/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "io.h"
#include "log.h"
#include "mem.h"
#include "pool.h"
#include "proc.h"

#define JOBS_MAX 256
#define TICK_MS  200 /* how often limits are looked at */
/* A longer time between two looks was ours, not the workers': stopped by job
 * control, or the reader of the output was slow. */
#define AWAY_S 5.0
/* Results waiting for an earlier one, per worker: bounds the memory. */
#define WINDOW 4

enum { WAITING = 2 };

struct item {
    char *in, *out;
    size_t n_in, n_out;
    int status; /* of the result callback, or WAITING */
    struct err err;
};

struct worker {
    pid_t pid; /* 0 = not started */
    int sock;
    long item; /* index in the window, -1 idle */
    double started;
    double cpu_before;
    double cpu_seen, moved; /* the latest CPU time and when it was first seen */
    /* reply as it arrives */
    unsigned char head[16];
    size_t n_head, n_body;
};

struct pool {
    struct pool_ops ops;
    struct worker *workers;
    struct item *window;         /* ring of `size` */
    size_t size, first, n, next; /* next: first not handed out, from first */
    double looked;               /* when limits were last looked at */
};

struct reply_head {
    uint64_t n;
    int32_t status, code;
};

_Static_assert(sizeof(struct reply_head) == 16, "head is read in one piece");

struct pool *pool_new(const struct pool_ops *ops)
{
    struct pool *p = xcalloc(1, sizeof(*p));

    p->ops = *ops;
    p->ops.jobs = MAX(1, MIN(ops->jobs, JOBS_MAX));
    p->size = (size_t)p->ops.jobs * WINDOW;
    p->workers = xcalloc((size_t)p->ops.jobs, sizeof(*p->workers));
    p->window = xcalloc(p->size, sizeof(*p->window));
    for (int i = 0; i < p->ops.jobs; i++) {
        p->workers[i].sock = -1;
        p->workers[i].item = -1;
    }
    return p;
}

static void worker_limits(const struct pool_ops *ops)
{
    struct rlimit core = {0, 0};

    setrlimit(RLIMIT_CORE, &core);
#if !defined(__SANITIZE_ADDRESS__)
    /* the sanitizer reserves terabytes: it would die at once */
    if (ops->memory > 0) {
        struct rlimit as = {(rlim_t)ops->memory, (rlim_t)ops->memory};
        setrlimit(RLIMIT_AS, &as);
    }
#else
    (void)ops;
#endif
}

static void NORETURN worker_main(struct pool *p, int sock)
{
    const struct pool_ops *ops = &p->ops;
    struct buf in, out;
    void *state;
    struct err e;

    buf_init(&in, ops->max_item);
    buf_init(&out, ops->max_item);
    worker_limits(ops);
    state = ops->start ? ops->start(ops->payload) : NULL;
    for (;;) {
        uint64_t n;
        struct reply_head h = {0, 0, 0};
        struct span body;
        ssize_t k = io_read_full(sock, &n, sizeof(n), &e);

        if (k != sizeof(n) || n > ops->max_item)
            break;
        buf_clear(&in);
        buf_clear(&out);
        if (n && (!buf_reserve(&in, n) ||
                  io_read_full(sock, in.p, n, &e) != (ssize_t)n))
            break;
        buf_setlen(&in, n);
        memset(&e, 0, sizeof(e));
        h.status = ops->work(state, buf_span(&in), &out, &e);
        if (h.status == 0 && out.full)
            h.status = err_set(&e, ERR_TOO_LARGE,
                               "result is larger than %zu bytes", out.max);
        body = h.status == 0 ? buf_span(&out)
                             : (struct span){(char *)&e, sizeof(e)};
        h.n = body.n;
        if (io_write_full(sock, &h, sizeof(h), &e) < 0 ||
            io_write_full(sock, body.p, body.n, &e) < 0)
            break;
    }
    _exit(0);
}

static int start_worker(struct pool *p, struct worker *w, struct err *e)
{
    int sv[2];
    pid_t parent = getpid();

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0)
        return err_sys(e, "cannot create a socket pair");
    fflush(NULL);
    w->pid = fork();
    if (w->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        for (int i = 0; i < p->ops.jobs; i++) {
            if (p->workers[i].sock >= 0)
                close(p->workers[i].sock);
        }
        close(sv[0]);
        worker_main(p, sv[1]);
    }
    close(sv[1]);
    if (w->pid < 0) {
        close(sv[0]);
        w->pid = 0;
        return err_sys(e, "cannot start a worker");
    }
    w->sock = sv[0];
    return 0;
}

/* End a worker; STATUS (may be NULL) is how it ended. */
static void stop_worker(struct worker *w, int *status)
{
    int st = 0;

    if (!w->pid)
        return;
    kill(w->pid, SIGKILL);
    while (waitpid(w->pid, &st, 0) < 0 && errno == EINTR)
        ;
    close(w->sock);
    w->pid = 0;
    w->sock = -1;
    w->item = -1;
    w->n_head = w->n_body = 0;
    if (status)
        *status = st;
}

static double worker_cpu(pid_t pid)
{
    clockid_t clk;
    struct timespec t;

    if (clock_getcpuclockid(pid, &clk) != 0 || clock_gettime(clk, &t) != 0)
        return 0;
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void lose_item(struct pool *p, struct worker *w, enum err_code code,
                      const char *why)
{
    struct item *it = p->window + w->item;
    int st;

    stop_worker(w, &st);
    if (code == ERR_CRASH && WIFSIGNALED(st))
        err_set(&it->err, ERR_CRASH, "a worker was ended by signal %d",
                WTERMSIG(st));
    else
        err_set(&it->err, code, "%s", why);
    it->status = -1;
}

static bool overran(const struct pool *p, const struct worker *w)
{
    double lim = p->ops.cpu_s;

    return lim > 0 && (worker_cpu(w->pid) - w->cpu_before > lim ||
                       now_s() - w->started > 10 * lim);
}

static bool idles(const struct pool *p, struct worker *w)
{
    double cpu = worker_cpu(w->pid), now = now_s();

    if (cpu > w->cpu_seen || now - p->looked > AWAY_S) {
        w->cpu_seen = cpu;
        w->moved = now;
    }
    return p->ops.idle_s > 0 && now - w->moved > p->ops.idle_s;
}

static void hand_out(struct pool *p, struct worker *w)
{
    size_t at = (p->first + p->next) % p->size;
    struct item *it = p->window + at;
    uint64_t n = it->n_in;
    struct err e;

    p->next++;
    if (!w->pid && start_worker(p, w, &e) < 0) {
        it->status = -1;
        it->err = e;
        return;
    }
    w->item = (long)at;
    w->started = now_s();
    w->cpu_before = w->cpu_seen = worker_cpu(w->pid);
    w->moved = w->started;
    /* the worker is idle and reads; a dead one shows up as end of stream */
    if (send(w->sock, &n, sizeof(n), MSG_NOSIGNAL) != sizeof(n))
        return;
    for (size_t done = 0; done < it->n_in;) {
        ssize_t k = send(w->sock, it->in + done, it->n_in - done, MSG_NOSIGNAL);
        if (k <= 0 && errno != EINTR)
            return;
        done += k > 0 ? (size_t)k : 0;
    }
}

/* Take what arrived from a worker, never waiting for more. */
static void take_reply(struct pool *p, struct worker *w)
{
    struct item *it = p->window + w->item;
    struct reply_head h;
    ssize_t k;

    if (w->n_head < sizeof(w->head)) {
        k = recv(w->sock, w->head + w->n_head, sizeof(w->head) - w->n_head,
                 MSG_DONTWAIT);
        if (k > 0)
            w->n_head += (size_t)k;
        else if (k == 0 || errno != EAGAIN)
            lose_item(p, w, ERR_CRASH, "a worker ended early");
        if (w->item < 0 || w->n_head < sizeof(w->head))
            return;
        memcpy(&h, w->head, sizeof(h));
        if (h.n > p->ops.max_item && h.n != sizeof(struct err)) {
            lose_item(p, w, ERR_CRASH, "a worker sent nonsense");
            return;
        }
        it->out = xmalloc(h.n + 1);
        it->n_out = h.n;
        w->n_body = 0;
    }
    memcpy(&h, w->head, sizeof(h));
    while (w->n_body < h.n) {
        k = recv(w->sock, it->out + w->n_body, h.n - w->n_body, MSG_DONTWAIT);
        if (k > 0) {
            w->n_body += (size_t)k;
            continue;
        }
        if (k < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        lose_item(p, w, ERR_CRASH, "a worker ended early");
        return;
    }
    it->status = h.status == 0 ? 0 : -1;
    if (it->status < 0 && h.n == sizeof(it->err)) {
        memcpy(&it->err, it->out, sizeof(it->err));
        it->err.msg[sizeof(it->err.msg) - 1] = '\0';
        it->err.hint[sizeof(it->err.hint) - 1] = '\0';
    }
    w->item = -1;
    w->n_head = 0;
}

static bool deliver(struct pool *p, struct err *e, int *rc)
{
    struct item *it = p->window + p->first;

    if (!p->n || it->status == WAITING)
        return false;
    *rc = p->ops.result(p->ops.payload, (struct span){it->in, it->n_in},
                        it->status, (struct span){it->out, it->n_out},
                        it->status < 0 ? &it->err : e);
    if (*rc < 0 && it->status < 0)
        *e = it->err;
    free(it->in);
    free(it->out);
    memset(it, 0, sizeof(*it));
    p->first = (p->first + 1) % p->size;
    p->n--;
    if (p->next)
        p->next--;
    return true;
}

/* Hand out, wait for something, take it, deliver what is due. */
static int turn(struct pool *p, bool wait, struct err *e)
{
    struct pollfd pf[JOBS_MAX];
    int busy = 0, rc = 0;

    for (int i = 0; i < p->ops.jobs; i++) {
        struct worker *w = p->workers + i;
        while (w->item < 0 && p->next < p->n) {
            if (p->window[(p->first + p->next) % p->size].status == WAITING)
                hand_out(p, w);
            else
                p->next++;
        }
        pf[i] = (struct pollfd){w->item >= 0 ? w->sock : -1, POLLIN, 0};
        busy += w->item >= 0;
    }
    if (busy) {
        if (poll(pf, (nfds_t)p->ops.jobs, wait ? TICK_MS : 0) < 0 &&
            errno != EINTR)
            return err_sys(e, "cannot wait for workers");
        for (int i = 0; i < p->ops.jobs; i++) {
            struct worker *w = p->workers + i;
            if (w->item >= 0 && pf[i].revents)
                take_reply(p, w);
            else if (w->item >= 0 && overran(p, w))
                lose_item(p, w, ERR_TIMEOUT, "took too long");
            else if (w->item >= 0 && idles(p, w))
                lose_item(p, w, ERR_TIMEOUT, "waits for what does not come");
        }
        p->looked = now_s();
    }
    while (rc == 0 && deliver(p, e, &rc))
        ;
    return rc;
}

static int put(struct pool *p, struct span item, int status, struct err *e)
{
    struct item *it;

    while (p->n == p->size) {
        if (turn(p, true, e) < 0)
            return -1;
    }
    it = p->window + (p->first + p->n) % p->size;
    memset(it, 0, sizeof(*it));
    it->in = xmemdup0(item);
    it->n_in = item.n;
    it->status = status;
    p->n++;
    return turn(p, false, e);
}

int pool_put(struct pool *p, struct span item, struct err *e)
{
    struct err big;

    if (item.n <= p->ops.max_item)
        return put(p, item, WAITING, e);
    /* keep the order: everything before comes out first */
    if (pool_drain(p, e) < 0)
        return -1;
    err_set(&big, ERR_TOO_LARGE, "%zu bytes are more than %zu", item.n,
            p->ops.max_item);
    return p->ops.result(p->ops.payload, item, -1, (struct span){NULL, 0},
                         &big);
}

int pool_pass(struct pool *p, struct span item, struct err *e)
{
    return put(p, item, POOL_PASSED, e);
}

int pool_drain(struct pool *p, struct err *e)
{
    while (p->n) {
        if (turn(p, true, e) < 0)
            return -1;
    }
    return 0;
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->ops.jobs; i++)
        stop_worker(p->workers + i, NULL);
    for (size_t i = 0; i < p->size; i++) {
        free(p->window[i].in);
        free(p->window[i].out);
    }
    free(p->workers);
    free(p->window);
    free(p);
}
