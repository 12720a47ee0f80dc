/* SPDX-License-Identifier: MIT */
/* km-runner-c: the runner of C candidates (km_candidate.h). */
#include "base.h"

#include "evaluate/native.h"

#include "io.h"
#include "mem.h"
#include "run/jail.h"

#include <dlfcn.h>
#include <sys/mman.h>

typedef int forward_fn(const struct km_tensor *, int, const struct km_tensor *,
                       int, struct km_tensor *, int);
typedef int init_fn(const struct km_tensor *, int);

struct candidate {
    forward_fn *forward;
    init_fn *init;
};

static int load(struct native *s, int fd, const char **where UNUSED,
                struct err *e)
{
    struct candidate *c = s->own;
    struct buf so = BUF_INIT(256u << 20);
    char dir[256], path[280];
    void *lib;
    int rc = -1;

    if (c->forward) {
        err_set(e, ERR_PROTOCOL, "load: a second candidate");
        goto out;
    }
    if (!getcwd(dir, sizeof(dir))) {
        err_sys(e, "cannot read the working directory");
        goto out;
    }
    /* There is no /proc here: the library is loaded from the private folder. */
    snprintf(path, sizeof(path), "%s/candidate.so", dir);
    if (lseek(fd, 0, SEEK_SET) || io_read_fd(&so, fd, e) ||
        outfile_write(path, buf_span(&so), e))
        goto out;
    if (jail_seal()) {
        err_sys(e, "cannot seal the sandbox");
        goto out;
    }
    lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        err_set(e, ERR_PARSE, "%s", dlerror());
        goto out;
    }
    c->forward = (forward_fn *)dlsym(lib, "km_forward");
    c->init = (init_fn *)dlsym(lib, "km_init");
    if (!c->forward) {
        err_set(e, ERR_PARSE, "the source defines no km_forward");
        goto out;
    }
    rc = 0;
out:
    buf_release(&so);
    return rc;
}

static int map(struct native *s, size_t arena, int fd, size_t size,
               struct err *e)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return err_sys(e, "cannot map an arena");
    s->arenas[arena].at = p;
    s->arenas[arena].size = size;
    return 0;
}

static int unmap(struct native *s, size_t arena, struct err *e)
{
    return munmap(s->arenas[arena].at, s->arenas[arena].size)
               ? err_sys(e, "cannot unmap an arena")
               : 0;
}

static int take(struct native *s UNUSED, size_t bytes, void **out,
                struct err *e)
{
    return posix_memalign(out, 64, bytes + 64)
               ? err_set(e, ERR_MEMORY, "cannot allocate memory")
               : 0;
}

static void give(struct native *s UNUSED, void *p)
{
    free(p);
}

static int copy(struct native *s UNUSED, void *to, const void *from, size_t n,
                struct err *e UNUSED)
{
    memcpy(to, from, n);
    __asm__ volatile("" : : "r"(to) : "memory"); /* it is read */
    return 0;
}

static int init(struct native *s, struct err *e)
{
    const struct candidate *c = s->own;
    int rc = c->init ? c->init(s->params.v, (int)s->params.n) : 0;
    return rc ? err_set(e, ERR_FORWARD, "km_init returned %d", rc) : 0;
}

static int nothing(struct native *s UNUSED, struct err *e UNUSED)
{
    return 0;
}

static int forward(struct native *s, size_t slot, struct err *e)
{
    const struct candidate *c = s->own;
    int rc =
        c->forward(s->in + slot * s->n_in, (int)s->n_in, s->params.v,
                   (int)s->params.n, s->out + slot * s->n_out, (int)s->n_out);
    return rc ? err_set(e, ERR_FORWARD, "km_forward returned %d", rc) : 0;
}

int main(void)
{
    static const struct native_ops ops = {.kind = "c",
                                          .load = load,
                                          .map = map,
                                          .unmap = unmap,
                                          .take = take,
                                          .give = give,
                                          .copy = copy,
                                          .init = init,
                                          .bound = nothing,
                                          .forward = forward,
                                          .wait = nothing};
    struct candidate c = {0};
    struct native s = {.ops = &ops, .own = &c};
    return native_serve(&s);
}
