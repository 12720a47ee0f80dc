/* SPDX-License-Identifier: MIT */
/* Builders, and native runners made by them. The loop index is 1 when the
 * caller shall be an ordinary user. */
#include "base.h"

#include "io.h"
#include "mem.h"
#include "proc.h"
#include "run/frames.h"
#include "tests/unit/jailed.h"

Suite *run_build_suite(void);

static struct err e;

static int build(const char *script, struct buf *out, struct buf *log,
                 double wall_s)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    struct build_file files[] = {{"in.c", SPAN_LIT("int f(void);\n")}};

    buf_clear(out);
    buf_clear(log);
    e = (struct err){0};
    return build_run(argv, files, 1, "out", wall_s, JAIL_FULL, out, log, &e);
}

START_TEST(test_build)
{
    struct buf out = BUF_INIT(1000), log = BUF_INIT(100);
    const char *cc[] = {"cc", "-c", "-o", "out.o", "in.c", NULL};
    struct build_file good = {"in.c", SPAN_LIT("int f(void){return 1;}\n")};
    struct build_file bad = {"in.c", SPAN_LIT("int f(void){return 1}\n")};
    struct buf object = BUF_INIT(1 << 20);

    become_user(_i);
    ck_assert_int_eq(build("cp in.c out; echo hi; echo ho >&2", &out, &log, 5),
                     0);
    ck_assert_str_eq(out.p, "int f(void);\n");
    ck_assert_str_eq(log.p, "hi\nho\n");
    ck_assert_int_eq(build("echo no; exit 1", &out, &log, 5), -1);
    ck_assert_int_eq(e.code, ERR_PARSE);
    ck_assert_str_eq(log.p, "no\n");
    ck_assert_uint_eq(out.n, 0);

    /* Artefacts that are none. */
    static const char *const none[] = {"true",
                                       "ln -s in.c out",
                                       "ln -s /usr/bin/env out",
                                       "mkdir out",
                                       "mkfifo out",
                                       "head -c 1001 /dev/zero > out",
                                       "cp in.c out; chmod 0 out"};
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        ck_assert_msg(build(none[i], &out, &log, 5) < 0, "%s", none[i]);
        ck_assert_int_eq(e.code, ERR_CRASH);
        ck_assert_uint_eq(out.n, 0);
    }
    ck_assert_int_eq(build("head -c 1000 /dev/zero > out", &out, &log, 5), 0);
    ck_assert_uint_eq(out.n, 1000);
    /* Its children cannot write the artefact after it has ended, nor hold
     * the log open. */
    ck_assert_int_eq(build("echo a > out; (setsid sh -c 'sleep 0.1; echo b > "
                           "out' &); exit 0",
                           &out, &log, 5),
                     0);
    ck_assert_str_eq(out.p, "a\n");
    ck_assert_int_eq(build("sleep 100", &out, &log, 0.3), -1);
    ck_assert_int_eq(e.code, ERR_TIMEOUT);
    ck_assert_int_eq(build("yes", &out, &log, 0.3), -1); /* bounded log */
    ck_assert_uint_eq(log.n, 100);
    ck_assert_int_eq(build("kill -9 $$", &out, &log, 5), -1);
    ck_assert_int_eq(e.code, ERR_MEMORY);

    ck_assert_msg(
        build_run(cc, &good, 1, "out.o", 20, JAIL_FULL, &object, &log, &e) == 0,
        "%s: %s", e.msg, log.p);
    ck_assert_mem_eq(object.p, "\177ELF", 4);
    buf_clear(&log);
    ck_assert_int_eq(
        build_run(cc, &bad, 1, "out.o", 20, JAIL_FULL, &object, &log, &e), -1);
    ck_assert_int_eq(e.code, ERR_PARSE);
    ck_assert_ptr_nonnull(strstr(log.p, "in.c:1"));
    cc[0] = "no-such-compiler";
    ck_assert_int_eq(
        build_run(cc, &good, 1, "out.o", 5, JAIL_FULL, &object, &log, &e), -1);
    ck_assert_int_eq(e.code, ERR_UNAVAILABLE);
    buf_release(&out);
    buf_release(&log);
    buf_release(&object);
}
END_TEST

/* ---- native runners ---- */

/* Says hello, then does to each frame what its argument says. */
static const char native[] =
    "#include <errno.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <sys/socket.h>\n"
    "#include <unistd.h>\n"
    "int main(int argc, char **argv) {\n"
    "    char b[64];\n"
    "    if (argc != 2 || strcmp(getenv(\"HOME\"), \"/tmp\")) return 9;\n"
    "    send(3, \"\\x81\\xa2op\\xa5hello\", 10, 0);\n"
    "    while (recv(3, b, sizeof(b), 0) > 0) {\n"
    "        char r[] = \"\\x81\\xa2ok\\xc3\";\n"
    "        if (fork() != -1) return 8;\n"
    "        if (argv[1][0] == 'm') { if (malloc(1 << 30)) return 7; }\n"
    "        if (argv[1][0] == 'a') abort();\n"
    "        if (argv[1][0] == 'k') kill(getpid(), 9);\n"
    "        send(3, r, 5, 0);\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

/* The program, compiled as candidates are. */
static int native_program(void)
{
    const char *cc[] = {"cc", "-o", "prog", "prog.c", NULL};
    struct build_file file = {"prog.c", SPAN_LIT("")};
    struct buf out = BUF_INIT(1 << 20), log = BUF_INIT(4000);
    int fd;

    file.text = span_str(native);
    ck_assert_msg(
        build_run(cc, &file, 1, "prog", 20, JAIL_FULL, &out, &log, &e) == 0,
        "%s: %s", e.msg, log.p);
    fd = io_memfd("prog", buf_span(&out), false, &e);
    ck_assert_int_ge(fd, 0);
    buf_release(&out);
    buf_release(&log);
    return fd;
}

static int call_native(int exe, const char *what, struct runner *r)
{
    const char *argv[] = {"prog", what, NULL};
    struct runner_conf c = {.cpu = -1, .memory = 256 << 20, .start_s = 10};
    struct arena a = ARENA_INIT;
    struct val *msg = val_map(&a), *reply;
    int rc;

    ck_assert_msg(runner_exec(exe, argv, &c, JAIL_FULL, r, &e) == 0, "%s",
                  e.msg);
    ck_assert_int_gt(r->pid, 0);
    ck_assert_int_ne(r->pid, r->init);
    ck_assert_int_eq(r->level, JAIL_FULL);
    rc = frame_call(r->sock, &a, msg, NULL, 0, now_s() + 10, &reply, &e);
    ck_assert(rc < 0 || val_getb(reply, "ok", false));
    arena_release(&a);
    return rc;
}

START_TEST(test_native_runner)
{
    struct runner r;
    struct runner_conf c = {.cpu = -1, .start_s = 5};
    const char *argv[] = {"prog", NULL};
    char text[96];
    int exe;

    become_user(_i);
    exe = native_program();
    ck_assert_int_eq(call_native(exe, "nothing", &r), 0);
    ck_assert_int_eq(runner_freeze(&r, &e), 0);
    ck_assert_int_eq(runner_thaw(&r, &e), 0);
    runner_kill(&r);
    ck_assert_int_eq(call_native(exe, "memory", &r), 0); /* refused to it */
    runner_kill(&r);
    ck_assert_int_eq(call_native(exe, "abort", &r), -1);
    ck_assert_int_eq(e.code, ERR_CRASH);
    ck_assert_int_eq(runner_end(&r, text, sizeof(text)), ERR_CRASH);
    ck_assert_ptr_nonnull(strstr(text, "signal 6"));
    runner_kill(&r);
    ck_assert_int_eq(call_native(exe, "kill", &r), -1);
    ck_assert_int_eq(runner_end(&r, text, sizeof(text)), ERR_MEMORY);
    runner_kill(&r);
    ck_assert_int_eq(runner_exec(exe, argv, &c, JAIL_FULL, &r, &e), -1);
    ck_assert_ptr_nonnull(
        strstr(e.msg, "did not start: it left with status 9"));
    ck_assert_int_eq(r.sock, -1);
    close(exe);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* none left behind */
}
END_TEST

Suite *run_build_suite(void)
{
    Suite *s = suite_create("run_build");
    TCase *t = tcase_create("build");
    char what[160];

    suite_add_tcase(s, t);
    tcase_set_timeout(t, 60);
    if (jail_probe(what, sizeof(what)) != JAIL_FULL) {
        printf("run_build: 2 tests skipped (%s)\n", what);
        return s;
    }
    tcase_add_loop_test(t, test_build, 0, 2);
    tcase_add_loop_test(t, test_native_runner, 0, 2);
    return s;
}
