/* SPDX-License-Identifier: MIT */
/* What candidates compile themselves, ahead of the judge: artefacts, and those
 * of hostile ones. Nothing is compiled here, they write what a compiler would.
 */
#include "base.h"

#include <check.h>
#include <sys/wait.h>

#include "evaluate/build_torch.h"
#include "io.h"
#include "mem.h"
#include "proc.h"
#include "run/frames.h"
#include "run/runner.h"
#include "store.h"

Suite *eval_build_suite(void);

static struct torch_builder builder;
static struct err e;
static struct buf out, message;

static int build(const char *source)
{
    buf_clear(&out);
    buf_clear(&message);
    e = (struct err){0};
    return build_torch(&builder, span_str(source), NULL, &out, &message, &e);
}

static void setup(void)
{
    builder = (struct torch_builder){
        .require = JAIL_FULL, .device_class = "cpu", .limit_s = 60};
    buf_init(&out, BUILT_MAX);
    buf_init(&message, 4000);
}

static void teardown(void)
{
    torch_builder_release(&builder);
    buf_release(&out);
    buf_release(&message);
}

/* Where and with what message SOURCE raises in a runner that got the last
 * artefact. */
static char *raised(const char *source)
{
    static const char request[] =
        "{\"op\":\"load\",\"role\":\"candidate\",\"class\":\"Model\","
        "\"init\":[],\"seed\":7,\"threads\":1}";
    struct runner_conf c = {
        .role = "evaluate", .cpu = -1, .memory = 1ll << 30, .start_s = 20};
    int fds[2] = {io_memfd("source", span_str(source), true, &e),
                  io_memfd("built", buf_span(&out), true, &e)};
    struct arena a = ARENA_INIT;
    struct val *msg, *reply;
    struct runner r;
    char *text;

    ck_assert_msg(zygote_fork(builder.zygote, &c, &r, &e) == 0, "%s", e.msg);
    ck_assert_int_eq(val_parse_json(&a, span_str(request), 0, &msg, &e), 0);
    ck_assert_msg(
        frame_call(r.sock, &a, msg, fds, 2, now_s() + 20, &reply, &e) == 0,
        "%s", e.msg);
    ck_assert(!val_getb(reply, "ok", true));
    text = xasprintf("%s: %s", arena_strdup(&a, val_gets(reply, "where")),
                     arena_strdup(&a, val_gets(reply, "message")));
    runner_kill(&r);
    arena_release(&a);
    close(fds[0]);
    close(fds[1]);
    return text;
}

#define FILES                                                                  \
    "import os\n"                                                              \
    "e = os.environ['TORCH_EXTENSIONS_DIR']\n"                                 \
    "os.makedirs(e + '/m')\n"                                                  \
    "def put(name, text):\n"                                                   \
    "    with open(e + '/' + name, 'w') as f:\n"                               \
    "        f.write(text)\n"                                                  \
    "    os.utime(e + '/' + name, ns=(5, 1234567890123456789))\n"

/* All below /tmp, with mode, time, and bytes. */
#define LOOK                                                                   \
    "import os\n"                                                              \
    "said = []\n"                                                              \
    "for d, _, names in os.walk('/tmp'):\n"                                    \
    "    for n in names:\n"                                                    \
    "        p = d + '/' + n\n"                                                \
    "        st = os.lstat(p)\n"                                               \
    "        if n != 'candidate.py':\n"                                        \
    "            said.append('%s %o %d %s' % (p[5:], st.st_mode, "             \
    "st.st_mtime_ns, open(p).read(9)))\n"                                      \
    "raise ValueError('; '.join(sorted(said)))\n"

START_TEST(test_artefact)
{
    char *text;

    ck_assert(build_torch_wanted(span_str("torch.utils.cpp_extension")));
    ck_assert(build_torch_wanted(span_str("x.load_inline(")));
    ck_assert(!build_torch_wanted(span_str("import torch\n")));
    /* What is no plain file is left out; an exception afterwards is no
     * matter. */
    ck_assert_int_eq(build(FILES "put('m/m.so', 'library')\n"
                                 "os.chmod(e + '/m/m.so', 0o755)\n"
                                 "put('m/.ninja_log', 'log')\n"
                                 "put('m/lock', '')\n"
                                 "os.symlink('/etc/passwd', e + '/link.so')\n"
                                 "os.symlink('/usr', e + '/m/usr')\n"
                                 "os.mkfifo(e + '/m/fifo')\n"
                                 "raise ValueError('no GPU')\n"),
                     0);
    ck_assert_uint_gt(out.n, 0);
    text = raised(LOOK);
    ck_assert_str_eq(text,
                     "load: ext/m/.ninja_log 100600 1234567890123456789 log; "
                     "ext/m/m.so 100700 1234567890123456789 library");
    free(text);
    /* Its constructor may do it, and has its arguments. */
    ck_assert_int_eq(build("class ModelNew:\n"
                           "    def __init__(self):\n"
                           "        exec("
                           "\"import os\\n"
                           "e = os.environ['TORCH_EXTENSIONS_DIR']\\n"
                           "os.mkdir(e)\\n"
                           "open(e + '/c.so', 'w')\\n\")\n"),
                     0);
    ck_assert_uint_gt(out.n, 0);
    /* Without a library there is nothing to hand on. */
    ck_assert_int_eq(build(FILES "put('m/main.cpp', 'x')\n"), 0);
    ck_assert_uint_eq(out.n, 0);
    ck_assert_int_eq(build("x = 1\n"), 0);
    ck_assert_uint_eq(out.n, 0);
}
END_TEST

START_TEST(test_refused)
{
    char *text;

#define ERROR "raise RuntimeError('''Error building extension 'm': [1/2] c++"
    ck_assert_int_eq(build(ERROR
                           " -DX=error: main.cpp\n"
                           "FAILED: main.o\n"
                           "/tmp/ext/m/main.cpp:5:1: error: no 'x'\n"
                           "/tmp/ext/m/k.cu(7): error: one\n"
                           "/usr/bin/ld: m.o: undefined reference to `f'\n"
                           "more.cpp:1:1: error: not told\n''')\n"),
                     1);
    ck_assert_str_eq(message.p, "main.cpp:5:1: error: no 'x'\n"
                                "k.cu(7): error: one\n"
                                "ld: m.o: undefined reference to `f'");
    ck_assert_uint_eq(out.n, 0);
    /* A runner that compiles itself tells the same. */
    text = raised(ERROR " main.cpp\nmain.cpp:5:1: error: no 'x'\n''')\n");
    ck_assert_str_eq(text, "build: main.cpp:5:1: error: no 'x'");
    free(text);
    /* Not the source's fault, or not a compiler's words. */
    static const char *const none[] = {
        ERROR "\nmain.cpp:1:1: error: writing: No space left on device''')\n",
        ERROR "\nc++: fatal error: Killed signal terminated''')\n",
        ERROR "\n/bin/sh: 1: nvcc: not found''')\n",
        "raise RuntimeError('error: mine')\n",
        "raise ValueError('''Error building extension 'm': error: x''')\n"};
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        ck_assert_msg(build(none[i]) == 0, "%s", none[i]);
        ck_assert_uint_eq(out.n, 0);
    }
}
END_TEST

/* Forges the artefact: what PYTHON makes of names. */
#define FORGE(python)                                                          \
    "import km_runner, os, struct, sys, zlib\n"                                \
    "def write(to, files):\n"                                                  \
    "    t = bytearray()\n"                                                    \
    "    km_runner.pack(" python ", t)\n"                                      \
    "    b = km_runner.MAGIC + zlib.compress(struct.pack('>I', len(t))\n"      \
    "                                        + bytes(t) + b'yy')\n"            \
    "    os.write(to, b)\n"                                                    \
    "    return len(b)\n"                                                      \
    "sys.modules['km_probe'].write = write\n"

START_TEST(test_hostile)
{
    static const char *const none[] = {
        FILES "put('m.so', '')\n"
              "with open(e + '/big', 'wb') as f:\n"
              "    for i in range(1024): f.write(bytes(1 << 20))\n",
        FILES "put('m.so', '')\n"
              "with open(e + '/big', 'wb') as f:\n"
              "    f.write(os.urandom(80 << 20))\n",
        FILES "put('m.so', '')\n"
              "for i in range(5000): put(str(i), '')\n",
        "import sys\n"
        "sys.modules['km_probe'].write = lambda *_: 1 << 40\n",
        "import os, sys\n"
        "def write(to, files):\n"
        "    os.ftruncate(to, 1 << 30)\n"
        "    return 1\n"
        "sys.modules['km_probe'].write = write\n",
        "import os\nos._exit(0)\n",
        "import os\nos.kill(os.getpid(), 9)\n"};
    static const char *const forged[] = {
        FORGE("[['a.so', 0o777, 1, 1], ['../evil', 0o777, 1, 1]]"),
        FORGE("[['a.so', 0o777, 1, 1], ['/tmp/evil', 0o777, 1, 1]]"),
        FORGE("[['a.so', 0o777, 1, 1], ['x/../../evil', 0o777, 1, 1]]"),
        FORGE("[['a.so', 0o777, 1, 1], ['x//y', 0o777, 1, 1]]"),
        FORGE("[['a.so', 0o777, 1, 1], ['a.so', 0o777, 1, 1]]"),
        FORGE("[['a.so', 0o777, 1, 1], ['a.so/b', 0o777, 1, 1]]"),
        FORGE("[['a.so', 0o777, 1, 1], ['b', 0o777, 1, 100]]"),
        FORGE("[['a.so', 0o777, 1, 1], ['b', 0o777, 1, -1]]"),
        FORGE("[['a.so', 0o777, 1, 1], ['b', 0o777, 'x', 1]]"),
        FORGE("['a.so']"),
        FORGE("7")};
    char *text;

    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        ck_assert_msg(build(none[i]) == 0, "%s: %s", none[i], e.msg);
        ck_assert_msg(out.n == 0, "%s", none[i]);
    }
    /* One that has not its form is as none: nothing lies there. */
    for (size_t i = 0; i < ARRAY_LEN(forged); i++) {
        ck_assert_int_eq(build(forged[i]), 0);
        ck_assert_uint_gt(out.n, 0);
        text = raised(LOOK);
        ck_assert_msg(strcmp(text, "load: ") == 0, "%s: %s", forged[i], text);
        free(text);
    }
    /* The forger can do it right, and then has what it made. */
    ck_assert_int_eq(build(FORGE("[['a.so', 0o6777, 1, 1], ['b', 0, 1, 1]]")),
                     0);
    text = raised(LOOK);
    ck_assert_str_eq(text, "load: ext/a.so 100700 1 y; ext/b 100600 1 y");
    free(text);
    /* One that takes too long, or leaves processes behind. */
    builder.limit_s = 1;
    ck_assert_int_eq(build("import time\ntime.sleep(100)\n"), 0);
    ck_assert_uint_eq(out.n, 0);
    builder.limit_s = 60;
    ck_assert_int_eq(build("import subprocess\n"
                           "subprocess.Popen(['sleep', '100'])\n"),
                     0);
    ck_assert_int_eq(build(FILES "put('m.so', '')\n"), 0);
    ck_assert_uint_gt(out.n, 0);
}
END_TEST

START_TEST(test_kept)
{
    static const char source[] = FILES "put('m.so', 'x')\n";
    struct arena a = ARENA_INIT;
    struct val *init = val_list(&a);
    char *dir = xasprintf("%s/km-build-XXXXXX",
                          getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    char *path;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    path = xasprintf("%s/store.sqlite", dir);
    ck_assert_int_eq(store_open(&builder.store, path, "evaluate", &e), 0);
    ck_assert_int_eq(build(source), 0);
    ck_assert_uint_gt(out.n, 0);
    /* From now on nothing can be built. */
    builder.limit_s = 1e-9;
    ck_assert_int_eq(build(source), 0);
    ck_assert_uint_gt(out.n, 0);
    /* Another source, even by a blank, other arguments, another device. */
    ck_assert_int_eq(build(FILES "put('m.so',  'x')\n"), 0);
    ck_assert_uint_eq(out.n, 0);
    val_push(&a, init, val_int(&a, 3));
    ck_assert_int_eq(
        build_torch(&builder, span_str(source), init, &out, &message, &e), 0);
    ck_assert_uint_eq(out.n, 0);
    builder.device_class = "cuda:sm_90";
    ck_assert_int_eq(build(source), 0);
    ck_assert_uint_eq(out.n, 0);
    builder.limit_s = 60;
    ck_assert_int_eq(build(FILES
                           "import torch\n"
                           "a = os.environ['TORCH_CUDA_ARCH_LIST']\n"
                           "c = torch.cuda.get_device_capability()\n"
                           "if a == '9.0' and c == (9, 0): put('m.so', '')\n"),
                     0);
    ck_assert_uint_gt(out.n, 0);
    store_close(builder.store);
    builder.store = NULL;
    (void)unlink(path);
    (void)rmdir(dir);
    free(path);
    free(dir);
    arena_release(&a);
}
END_TEST

START_TEST(test_no_zygote)
{
    builder.python = "/bin/false";
    ck_assert_int_eq(build(FILES "put('m.so', '')\n"), 0);
    ck_assert_uint_eq(out.n, 0);
    ck_assert_ptr_null(builder.zygote);
}
END_TEST

static bool have_python(void)
{
    struct zygote_conf c = {.require = JAIL_FULL};
    struct zygote *z;

    if (zygote_start(&z, &c, &e))
        return false;
    zygote_stop(z);
    return true;
}

Suite *eval_build_suite(void)
{
    Suite *s = suite_create("eval_build");
    TCase *t = tcase_create("torch");

    suite_add_tcase(s, t);
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_no_zygote);
    if (!have_python()) {
        printf("eval_build: 4 tests skipped (%s)\n", e.msg);
        return s;
    }
    tcase_add_test(t, test_artefact);
    tcase_add_test(t, test_refused);
    tcase_add_test(t, test_hostile);
    tcase_add_test(t, test_kept);
    return s;
}
