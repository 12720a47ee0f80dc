/* SPDX-License-Identifier: MIT */
/* The zygote and its runners with good and hostile sources. */
#include "base.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "io.h"
#include "mem.h"
#include "proc.h"
#include "run/frames.h"
#include "run/runner.h"

Suite *run_zygote_suite(void);

#define ARENA_SIZE (1 << 20)

static struct zygote *zygote; /* started once, used by forks of this process */
static struct err e;

static struct arena mem = ARENA_INIT;
static struct runner r;
static int arena_fd;
static char *shared; /* the arena, as the judge sees it */

static void start_zygote(void)
{
    struct zygote_conf c = {.require = JAIL_FULL};
    static const char probe[] =
        "import km_runner, os\n"
        "def serve(chan):\n"
        "    chan.send({'ok': True, 'cwd': os.getcwd(),\n"
        "               'answer': chan.recv()[0]['n'] + 1})\n";

    c.probe = span_str(probe);
    if (zygote_start(&zygote, &c, &e) < 0)
        fprintf(stderr, "%s\n", e.msg);
}

static void stop_zygote(void)
{
    zygote_stop(zygote);
    zygote = NULL;
}

static void fork_runner(void)
{
    struct runner_conf c = {
        .role = "evaluate", .cpu = -1, .memory = 1ll << 30, .start_s = 20};

    ck_assert_ptr_nonnull(zygote);
    ck_assert_msg(zygote_fork(zygote, &c, &r, &e) == 0, "%s", e.msg);
}

static void setup(void)
{
    fork_runner();
    arena_fd = memfd_create("arena", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(arena_fd, ARENA_SIZE), 0);
    shared =
        mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, arena_fd, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
}

static void teardown(void)
{
    runner_kill(&r);
    munmap(shared, ARENA_SIZE);
    close(arena_fd);
    arena_release(&mem);
}

/* What lies at OFFSET of the arena. */
static void *at(size_t offset)
{
    return shared + offset;
}

/* Send the frame written as JSON and wait SECONDS for the reply; NULL with E
 * on error. */
static struct val *ask(const char *json, int fd, double seconds)
{
    struct val *msg, *reply = NULL;
    struct err bad;

    ck_assert_msg(val_parse_json(&mem, span_str(json), 0, &msg, &bad) == 0,
                  "%s", json);
    e = (struct err){0};
    if (frame_call(r.sock, &mem, msg, &fd, fd >= 0, now_s() + seconds, &reply,
                   &e) < 0)
        return NULL;
    return reply;
}

static const char *text(const struct val *v)
{
    struct buf b = BUF_INIT(100000);

    char *copy;

    ck_assert_int_eq(val_json(&b, v), 0);
    copy = arena_strdup(&mem, buf_span(&b));
    buf_release(&b);
    return copy;
}

#define ASK(json, expected)                                                    \
    do {                                                                       \
        struct val *v_ = ask((json), -1, 20);                                  \
        ck_assert_msg(v_ != NULL, "%s", e.msg);                                \
        ck_assert_str_eq(text(v_), (expected));                                \
    } while (0)

static struct val *load_as(const char *source, const char *request)
{
    int fd = io_memfd("source", span_str(source), true, &e);
    struct val *v = ask(request, fd, 20);

    close(fd);
    ck_assert_msg(v != NULL, "%s", e.msg);
    return v;
}

static struct val *load(const char *source)
{
    return load_as(source, "{\"op\":\"load\",\"role\":\"candidate\",\"class\":"
                           "\"Model\",\"init\":[],\"seed\":7,\"threads\":1}");
}

static void map_arena(void)
{
    struct val *v =
        ask("{\"op\":\"arena\",\"arena\":0,\"size\":1048576}", arena_fd, 20);
    ck_assert_str_eq(text(v), "{\"ok\":true}");
}

#define HEAD                                                                   \
    "import torch\n"                                                           \
    "import torch.nn as nn\n"                                                  \
    "import os, sys, time, signal, threading\n"

/* forward(x) of a module without state. */
#define MODEL(body)                                                            \
    HEAD "class Model(nn.Module):\n"                                           \
         "    def forward(self, x):\n"                                         \
         "        " body "\n"

/* Two slots of one float32[4] input at 0 and 4096, output at 8192, 12288. */
#define BIND_4                                                                 \
    "{\"op\":\"bind\",\"arena\":0,\"args\":[{\"t\":0}],\"ins\":[{\"shape\":["  \
    "4],"                                                                      \
    "\"dtype\":\"float32\"}],\"in_off\":[0],\"outs\":[{\"shape\":["            \
    "4],\"dtype\":\"float32\"}],\"out_off\":[8192],\"slots\":2,"               \
    "\"stride\":4096}"
#define RUN_2 "{\"op\":\"run\",\"first\":0,\"n\":2,\"nonce\":5,\"chain\":null}"
#define DONE_4                                                                 \
    "{\"ok\":true,\"nonce\":5,\"outs\":[{\"shape\":[4],\"dtype\":\"float32\"}" \
    "]}"

static void prepare(const char *source)
{
    ck_assert_str_eq(text(load(source)), "{\"ok\":true,\"state\":[]}");
    map_arena();
    ASK(BIND_4, "{\"ok\":true}");
}

START_TEST(test_about)
{
    const struct val *a = zygote_about(zygote);

    ck_assert_int_eq(val_geti(a, "level", -1), JAIL_FULL);
    ck_assert_int_gt(val_gets(a, "torch").n, 4);
    ck_assert_int_gt(val_gets(a, "python").n, 2);
    ck_assert_int_eq(r.level, JAIL_FULL);
    ck_assert_int_gt(r.pid, 0);
    ck_assert_int_ne(r.pid, r.init);
    ck_assert_int_eq(kill(r.pid, 0), 0);
    ASK("{\"op\":\"run\",\"first\":0,\"n\":0,\"nonce\":3,\"chain\":null}",
        "{\"ok\":true,\"nonce\":3,\"outs\":[]}");
    ASK("{\"op\":\"no_such\"}",
        "{\"ok\":false,\"where\":\"protocol\",\"class\":\"KeyError\","
        "\"message\":\"'no_such'\",\"line\":0}");
}
END_TEST

START_TEST(test_run_in_the_arena)
{
    float *in0 = at(0), *in1 = at(4096);
    float *out0 = at(8192), *out1 = at(12288);

    prepare(MODEL("return x * 2 + 1"));
    for (int i = 0; i < 4; i++) {
        in0[i] = (float)i;
        in1[i] = (float)-i;
    }
    ASK(RUN_2, DONE_4);
    for (int i = 0; i < 4; i++) {
        ck_assert_float_eq(out0[i], (float)(2 * i + 1));
        ck_assert_float_eq(out1[i], (float)(-2 * i + 1));
    }
    /* element 3 of output 0 goes to element 1 of input 1 */
    ASK("{\"op\":\"run\",\"first\":0,\"n\":2,\"nonce\":5,\"chain\":[0,1,0,3]}",
        DONE_4);
    ck_assert_float_eq(in1[1], 7);
    ck_assert_float_eq(out1[1], 15);
    ck_assert_float_eq(in0[1], 1);
    in0[0] = NAN;
    ASK("{\"op\":\"run\",\"first\":0,\"n\":1,\"nonce\":5,\"chain\":null}",
        DONE_4);
    ck_assert(isnan(out0[0]));
    ASK("{\"op\":\"run\",\"first\":1,\"n\":2,\"nonce\":5,\"chain\":null}",
        "{\"ok\":false,\"where\":\"protocol\",\"class\":\"ValueError\","
        "\"message\":\"no such slots\",\"line\":0}");
    /* a place outside of the arena */
    struct val *v = ask("{\"op\":\"bind\",\"arena\":0,\"args\":[],\"ins\":[],"
                        "\"in_off\":[],\"outs\":[{\"shape\":[4],\"dtype\":"
                        "\"float32\"}],\"out_off\":[1048572],\"slots\":1,"
                        "\"stride\":0}",
                        -1, 20);
    ck_assert(!val_getb(v, "ok", true));
}
END_TEST

START_TEST(test_state_modes_and_nested_outputs)
{
    float *p = at(0);
    double *wide = at(512);
    static const char source[] = HEAD
        "class Model(nn.Module):\n"
        "    def __init__(self, n, scale=1.0, names=()):\n"
        "        super().__init__()\n"
        "        self.w = nn.Parameter(torch.rand(n))\n"
        "        self.register_buffer('b', torch.full((n,), scale))\n"
        "        self.register_buffer('c', torch.zeros(1), persistent=False)\n"
        "    def forward(self, xs, k, name):\n"
        "        assert k == 2 and name == 'abc'\n"
        "        y = xs[0] * self.w + self.b\n"
        "        if self.training: y = y + 100\n"
        "        return {'y': y, 'rest': (xs[1], None, [xs[0].sum()], 4)}\n";
    static const char bind[] =
        "{\"op\":\"bind\",\"arena\":0,\"args\":[{\"l\":[{\"t\":0},{\"t\":1}]},"
        "{\"v\":2},{\"v\":\"abc\"}],\"ins\":[{\"shape\":[2],\"dtype\":"
        "\"float32\"},{\"shape\":[0,3],\"dtype\":\"bool\"}],\"in_off\":"
        "[64,0],\"outs\":[{\"shape\":[2],\"dtype\":\"float32\"},{\"shape\":"
        "[0,3],\"dtype\":\"bool\"},{\"shape\":[],\"dtype\":\"float32\"},"
        "{\"shape\":[],\"dtype\":\"int64\"}],\"out_off\":[128,0,192,256],"
        "\"slots\":1,"
        "\"stride\":0}";
    static const char run[] =
        "{\"op\":\"run\",\"first\":0,\"n\":1,\"nonce\":1,\"chain\":null}";
    struct val *v = load_as(
        source, "{\"op\":\"load\",\"role\":\"reference\",\"class\":"
                "\"Model\",\"init\":[2,3.0,[]],\"seed\":1,\"threads\":1}");

    ck_assert_str_eq(
        text(v),
        "{\"ok\":true,\"state\":[{\"name\":\"w\",\"shape\":[2],\"dtype\":"
        "\"float32\",\"param\":true},{\"name\":\"b\",\"shape\":[2],\"dtype\":"
        "\"float32\",\"param\":false},{\"name\":\"c\",\"shape\":[1],\"dtype\":"
        "\"float32\",\"param\":false}]}");
    map_arena();
    ASK("{\"op\":\"state_get\",\"arena\":0,\"at\":[0,8,16]}", "{\"ok\":true}");
    ck_assert(p[0] > 0 && p[0] < 1 && p[1] > 0 && p[1] < 1);
    ck_assert_float_eq(p[2], 3);
    p[0] = 10;
    p[1] = 20;
    ASK("{\"op\":\"state_set\",\"arena\":0,\"items\":[{\"name\":\"w\","
        "\"offset\":0,\"shape\":[2],\"dtype\":\"float32\"},{\"name\":\"b\","
        "\"offset\":0,\"shape\":[3],\"dtype\":\"float32\"}]}",
        "{\"ok\":true,\"missing\":[\"b\",\"c\"],\"unused\":1}");
    ASK(bind, "{\"ok\":true}");
    p[16] = 1;
    p[17] = 2;
    ASK(run, "{\"ok\":true,\"nonce\":1,\"outs\":[{\"shape\":[2],\"dtype\":"
             "\"float32\"},{\"shape\":[0,3],\"dtype\":\"bool\"},{\"shape\":[],"
             "\"dtype\":\"float32\"},{\"shape\":[],\"dtype\":\"int64\"}]}");
    ck_assert_float_eq(p[32], 13);
    ck_assert_float_eq(p[33], 43);
    ck_assert_float_eq(p[48], 3);
    ck_assert_int_eq(*(int64_t *)at(256), 4);
    ASK("{\"op\":\"mode\",\"train\":true}", "{\"ok\":true}");
    ck_assert(ask(run, -1, 20) != NULL);
    ck_assert_float_eq(p[32], 113);
    ASK("{\"op\":\"cast\",\"dtype\":\"float64\"}", "{\"ok\":true}");
    ASK("{\"op\":\"state_get\",\"arena\":0,\"at\":[512,528,544]}",
        "{\"ok\":true}");
    ck_assert_double_eq(wide[1], 20);
}
END_TEST

START_TEST(test_free_function)
{
    prepare(HEAD "def Model(x):\n    return x.flip(0)\n");
    for (int i = 0; i < 4; i++)
        ((float *)at(0))[i] = (float)i;
    ASK(RUN_2, DONE_4);
    ck_assert_float_eq(((float *)at(8192))[0], 3);
}
END_TEST

START_TEST(test_wrong_outputs_are_not_copied)
{
    float *out = at(8192);

    prepare(MODEL("return x.sum()"));
    out[0] = 77;
    ASK(RUN_2, "{\"ok\":true,\"nonce\":5,\"outs\":[{\"shape\":[],\"dtype\":"
               "\"float32\"}]}");
    ck_assert_float_eq(out[0], 77);
    load(MODEL("return x, x"));
    ASK(RUN_2, "{\"ok\":true,\"nonce\":5,\"outs\":[{\"shape\":[4],\"dtype\":"
               "\"float32\"},{\"shape\":[4],\"dtype\":\"float32\"}]}");
    ck_assert_float_eq(out[0], 77);
    load(MODEL("return None"));
    ASK(RUN_2, "{\"ok\":true,\"nonce\":5,\"outs\":[]}");
    load(MODEL("return object()"));
    ck_assert(span_is(val_gets(ask(RUN_2, -1, 20), "message"),
                      "output of type object"));
}
END_TEST

static const struct {
    const char *source, *reply;
} bad[] = {
    {"import torch\nclass Model(:\n",
     "{\"ok\":false,\"where\":\"load\",\"class\":\"SyntaxError\",\"message\":"
     "\"invalid syntax (candidate.py, line 2)\",\"line\":2}"},
    {"x = 1\n",
     "{\"ok\":false,\"where\":\"load\",\"class\":\"NoClass\",\"message\":\"the "
     "source defines no Model\",\"line\":0}"},
    {"import no_such_module_\n",
     "{\"ok\":false,\"where\":\"load\",\"class\":\"ModuleNotFoundError\","
     "\"message\":\"No module named 'no_such_module_'\",\"line\":1}"},
    {"class Model:\n    def __init__(self):\n        1 / 0\n",
     "{\"ok\":false,\"where\":\"construct\",\"class\":\"ZeroDivisionError\","
     "\"message\":\"division by zero\",\"line\":3}"},
    {"import sys\nsys.exit(3)\n",
     "{\"ok\":false,\"where\":\"load\",\"class\":\"SystemExit\",\"message\":"
     "\"3\",\"line\":2}"},
    {"class E(Exception):\n    def __str__(self): raise KeyError(1)\n"
     "raise E()\n",
     "{\"ok\":false,\"where\":\"load\",\"class\":\"E\",\"message\":\"\","
     "\"line\":3}"},
    {"raise ValueError('\\ud800' + 'x' * 1000)\n", NULL},
    {"x = '\xff'\n", NULL},
    {"def f(): f()\nf()\n", NULL},
    {"import subprocess\nsubprocess.run(['true'])\n", NULL},
    {"import socket\nsocket.socket()\n", NULL},
    {"import os\nos.fork()\n", NULL},
    {"import os\nos.sched_setaffinity(0, {0})\n", NULL},
    {"open('/etc/passwd')\n", NULL},
    {"open('/root/x', 'w')\n", NULL},
    {"import os\nos.listdir('/proc')\n", NULL},
    {"x = bytearray(2 << 30)\n", NULL},
    {"import torch\nx = torch.ones(1 << 29)\n", NULL},
};

START_TEST(test_bad_sources)
{
    struct val *v = load(bad[_i].source);

    if (bad[_i].reply)
        ck_assert_str_eq(text(v), bad[_i].reply);
    ck_assert_msg(!val_getb(v, "ok", true), "%s", bad[_i].source);
    ck_assert_int_gt(val_gets(v, "class").n, 0);
    ck_assert_int_le(val_gets(v, "message").n, 400);
    /* the runner is still good for another */
    ck_assert_str_eq(text(load(MODEL("return x"))),
                     "{\"ok\":true,\"state\":[]}");
}
END_TEST

START_TEST(test_source_is_found)
{
    /* Triton and many models read their own source. */
    prepare(HEAD "import inspect\n"
                 "class Model(nn.Module):\n"
                 "    def forward(self, x):\n"
                 "        n = len(inspect.getsource(Model).splitlines())\n"
                 "        assert Model.__module__ == 'candidate'\n"
                 "        return x * 0 + n\n");
    ASK(RUN_2, DONE_4);
    ck_assert_float_eq(((float *)at(8192))[0], 5);
}
END_TEST

START_TEST(test_torch_works_inside)
{
    /* No /proc, no /sys, lazy imports from the environment, no threads. */
    prepare(
        HEAD
        "import torch.nn.functional as F, tempfile\n"
        "class Model(nn.Module):\n"
        "    def forward(self, x):\n"
        "        import torch._dynamo, torch.distributions, torch.fft\n"
        "        import torch.utils.checkpoint, numpy, random\n"
        "        torch.set_num_threads(2)\n"
        "        F.conv2d(torch.rand(2, 3, 64, 64), torch.rand(8, 3, 3, 3))\n"
        "        nn.LSTM(8, 8)(torch.rand(5, 2, 8))\n"
        "        nn.MultiheadAttention(8, 2)(*[torch.rand(4, 2, 8)] * 3)\n"
        "        F.scaled_dot_product_attention(*[torch.rand(1, 2, 64, 16)] * "
        "3)\n"
        "        torch.linalg.svd(torch.rand(8, 8)); torch.fft.fft(x)\n"
        "        nn.TransformerEncoderLayer(8, 2)(torch.rand(4, 2, 8))\n"
        "        torch.rand(300, 300) @ torch.rand(300, 300)\n"
        "        (torch.rand(9, 9).bfloat16() @ torch.rand(9, 9).bfloat16())\n"
        "        nn.Embedding(9, 4)(torch.tensor([1, 2]))\n"
        "        with torch.enable_grad():\n"
        "            y = torch.rand(3, requires_grad=True)\n"
        "            (y * y).sum().backward()\n"
        "        f = torch.jit.script(nn.ReLU())\n"
        "        with tempfile.TemporaryDirectory() as d:\n"
        "            torch.save(f.state_dict(), d + '/x')\n"
        "        t = threading.Thread(target=lambda: None)\n"
        "        t.start(); t.join()\n"
        "        return f(x) + 1\n");
    ASK(RUN_2, DONE_4);
    ck_assert_float_eq(((float *)at(8192))[0], 1);
}
END_TEST

START_TEST(test_patched_torch)
{
    /* Only the candidate's own results change; the copy into the arena is
     * ours, and the reply says what it said. */
    prepare(HEAD "torch.Tensor.copy_ = lambda *a: a[0]\n"
                 "torch.no_grad = None\n"
                 "torch.frombuffer = None\n"
                 "torch.nn.Module.named_parameters = None\n"
                 "class Model(nn.Module):\n"
                 "    def forward(self, x): return x + 1\n");
    ASK(RUN_2, DONE_4);
    ck_assert_float_eq(((float *)at(8192))[0], 1);
}
END_TEST

/* What ends a runner in forward: expression, end, text. */
static const struct {
    const char *body;
    enum err_code code;
    const char *text;
} ends[] = {
    {"os._exit(0)", ERR_CRASH, "left with status 0"},
    {"os.kill(os.getpid(), 9)", ERR_MEMORY, "signal 9"},
    {"os.abort()", ERR_CRASH, "signal 6"},
    {"import ctypes; ctypes.string_at(0)", ERR_CRASH, "signal 11"},
    {"os.closerange(0, 64)", ERR_CRASH, "left with status"},
};

START_TEST(test_ends)
{
    char how[96];
    char *source =
        arena_printf(&mem, MODEL("%s\n        return x"), ends[_i].body);

    prepare(source);
    ck_assert_ptr_null(ask(RUN_2, -1, 10));
    ck_assert_int_eq(e.code, ERR_CRASH);
    ck_assert_int_eq(runner_end(&r, how, sizeof(how)), ends[_i].code);
    ck_assert_msg(strstr(how, ends[_i].text) != NULL, "%s", how);
    runner_kill(&r);
    /* the next one is unharmed */
    fork_runner();
    prepare(MODEL("return x"));
    ASK(RUN_2, DONE_4);
}
END_TEST

START_TEST(test_endless_loop)
{
    prepare(MODEL("\n        while True: pass"));
    ck_assert_ptr_null(ask(RUN_2, -1, 0.2));
    ck_assert_int_eq(e.code, ERR_TIMEOUT);
    ck_assert_int_eq(runner_freeze(&r, &e), 0);
    ck_assert_int_eq(runner_thaw(&r, &e), 0);
    runner_kill(&r);
    fork_runner();
    ck_assert_ptr_nonnull(load(MODEL("return x")));
}
END_TEST

START_TEST(test_writes_to_every_descriptor)
{
    int fd = io_memfd("source",
                      SPAN_LIT("import os\n"
                               "for fd in range(256):\n"
                               "    try: os.write(fd, b'rubbish')\n"
                               "    except OSError: pass\n"),
                      true, &e);

    /* Rubbish is seen as such, and the next runner sees none of it. */
    ck_assert_ptr_null(ask("{\"op\":\"load\",\"role\":\"candidate\","
                           "\"class\":\"Model\",\"init\":[],\"seed\":7,"
                           "\"threads\":1}",
                           fd, 20));
    ck_assert_int_eq(e.code, ERR_PROTOCOL);
    close(fd);
    runner_kill(&r);
    fork_runner();
    prepare(MODEL("return x"));
    ASK(RUN_2, DONE_4);
}
END_TEST

START_TEST(test_background_thread_is_frozen)
{
    volatile float *in = at(0);
    float seen;

    prepare(HEAD "def work(x):\n"
                 "    while True: x += 1\n"
                 "class Model(nn.Module):\n"
                 "    t = None\n"
                 "    def forward(self, x):\n"
                 "        if self.t is None:\n"
                 "            self.t = threading.Thread(target=work, "
                 "args=(x,), daemon=True)\n"
                 "            self.t.start()\n"
                 "        return x * 1\n");
    ASK(RUN_2, DONE_4);
    seen = *in;
    for (int i = 0; i < 5000 && *in == seen; i++)
        usleep(1000);
    ck_assert(*in != seen);
    for (int turn = 0; turn < 5; turn++) {
        ck_assert_int_eq(runner_freeze(&r, &e), 0);
        seen = *in;
        usleep(3000);
        ck_assert(*in == seen);
        ck_assert_int_eq(runner_thaw(&r, &e), 0);
        usleep(1000);
    }
}
END_TEST

START_TEST(test_pinned)
{
    struct runner_conf c = {.role = "evaluate", .cpu = 0, .start_s = 20};
    cpu_set_t set;

    runner_kill(&r);
    ck_assert_int_eq(zygote_fork(zygote, &c, &r, &e), 0);
    ck_assert_int_eq(sched_getaffinity(r.pid, sizeof(set), &set), 0);
    ck_assert_int_eq(CPU_COUNT(&set), 1);
    ck_assert(CPU_ISSET(0, &set));
}
END_TEST

START_TEST(test_cpu_limit)
{
    struct runner_conf c = {
        .role = "evaluate", .cpu = -1, .cpu_s = 1, .start_s = 20};
    char how[96];

    runner_kill(&r);
    ck_assert_int_eq(zygote_fork(zygote, &c, &r, &e), 0);
    prepare(MODEL("\n        while True: pass"));
    ck_assert_ptr_null(ask(RUN_2, -1, 20));
    ck_assert_int_eq(e.code, ERR_CRASH);
    ck_assert_int_eq(runner_end(&r, how, sizeof(how)), ERR_TIMEOUT);
}
END_TEST

START_TEST(test_other_main)
{
    struct runner_conf c = {.role = "probe", .cpu = -1, .start_s = 20};

    runner_kill(&r);
    ck_assert_int_eq(zygote_fork(zygote, &c, &r, &e), 0);
    ASK("{\"n\":4}", "{\"ok\":true,\"cwd\":\"/tmp\",\"answer\":5}");
}
END_TEST

/* ---- no leaks, and how fast ---- */

static int count_entries(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;

    ck_assert_ptr_nonnull(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Processes whose parent is PID. */
static int count_children(pid_t pid)
{
    char path[64];
    struct buf b = BUF_INIT(10000);
    int n = 0;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
             (int)pid);
    ck_assert_int_eq(io_read_file(&b, path, &e), 0);
    for (size_t i = 0; i < b.n; i++)
        n += b.p[i] == ' ';
    buf_release(&b);
    return n;
}

START_TEST(test_forty_forks)
{
    char fds[64], path[64];
    struct buf b = BUF_INIT(4096);
    double hello = 0, forward = 0, gone = 0;
    int ours, theirs, n = 40;
    pid_t parent;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)r.init);
    ck_assert_int_eq(io_read_file(&b, path, &e), 0);
    parent = (pid_t)strtol(strstr(b.p, "PPid:") + 5, NULL, 10);
    buf_release(&b);
    snprintf(fds, sizeof(fds), "/proc/%d/fd", (int)parent);
    runner_kill(&r);
    ours = count_entries("/proc/self/fd");
    theirs = count_entries(fds);
    for (int i = 0; i < n; i++) {
        double t = now_s();
        fork_runner();
        hello += now_s() - t;
        if (i % 4 == 0) {
            prepare(HEAD "class Model(nn.Module):\n"
                         "    def forward(self, x): return x @ torch.eye(4)\n");
            ASK(RUN_2, DONE_4);
            forward += now_s() - t;
            arena_reset(&mem);
        }
        t = now_s();
        runner_kill(&r);
        gone += now_s() - t;
    }
    printf("run_zygote: hello %.1f ms after the fork, first forward %.1f ms, "
           "end %.1f ms\n",
           hello / n * 1e3, forward / n * 4e3, gone / n * 1e3);
    ck_assert_int_eq(count_entries("/proc/self/fd"), ours);
    ck_assert_int_eq(count_entries(fds), theirs);
    for (int i = 0; i < 100 && count_children(parent) > 0; i++)
        usleep(10000);
    ck_assert_int_eq(count_children(parent), 0);
    fork_runner();
}
END_TEST

START_TEST(test_no_python)
{
    struct zygote *z;
    struct zygote_conf c = {.python = "/bin/false", .require = JAIL_FULL};

    ck_assert_int_eq(zygote_start(&z, &c, &e), -1);
    ck_assert_int_eq(e.code, ERR_UNAVAILABLE);
    ck_assert_ptr_null(z);
    c.python = "/nonexistent/python";
    ck_assert_int_eq(zygote_start(&z, &c, &e), -1);
    ck_assert_int_eq(e.code, ERR_UNAVAILABLE);
    ck_assert_str_ne(e.hint, "");
    c.python = NULL;
    ck_assert_int_eq(setenv("KM_CACHE", "/nonexistent/cache", 1), 0);
    ck_assert_int_eq(unsetenv("KM_PYTHON"), 0);
    ck_assert_int_eq(zygote_start(&z, &c, &e), -1);
}
END_TEST

static bool have_python(void)
{
    char *cache, *path;
    bool found;

    if (getenv("KM_PYTHON"))
        return true;
    cache = io_cache_dir(NULL, &e);
    if (!cache)
        return false;
    path = xasprintf("%s/python", cache);
    found = access(path, X_OK) == 0;
    free(path);
    free(cache);
    return found;
}

Suite *run_zygote_suite(void)
{
    Suite *s = suite_create("run_zygote");
    TCase *t = tcase_create("runner"), *start = tcase_create("start");
    char what[160];

    suite_add_tcase(s, start);
    tcase_add_test(start, test_no_python);
    if (!have_python() || jail_probe(what, sizeof(what)) != JAIL_FULL) {
        printf("run_zygote: 17 tests skipped (no torch is set up, or no full "
               "sandbox)\n");
        return s;
    }
    suite_add_tcase(s, t);
    tcase_set_timeout(t, 90);
    tcase_add_unchecked_fixture(t, start_zygote, stop_zygote);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_about);
    tcase_add_test(t, test_run_in_the_arena);
    tcase_add_test(t, test_state_modes_and_nested_outputs);
    tcase_add_test(t, test_free_function);
    tcase_add_test(t, test_wrong_outputs_are_not_copied);
    tcase_add_loop_test(t, test_bad_sources, 0, (int)ARRAY_LEN(bad));
    tcase_add_test(t, test_source_is_found);
    tcase_add_test(t, test_torch_works_inside);
    tcase_add_test(t, test_patched_torch);
    tcase_add_loop_test(t, test_ends, 0, (int)ARRAY_LEN(ends));
    tcase_add_test(t, test_endless_loop);
    tcase_add_test(t, test_writes_to_every_descriptor);
    tcase_add_test(t, test_background_thread_is_frozen);
    tcase_add_test(t, test_pinned);
    tcase_add_test(t, test_cpu_limit);
    tcase_add_test(t, test_other_main);
    tcase_add_test(t, test_forty_forks);
    return s;
}
