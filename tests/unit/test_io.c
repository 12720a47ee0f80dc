/* SPDX-License-Identifier: MIT */
/* Files, zstd, the store, children and the pool. */
#include "base.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "io.h"
#include "mem.h"
#include "pool.h"
#include "proc.h"
#include "store.h"
#include "zio.h"

Suite *io_suite(void);

static char dir[64];
static struct err e;

static void setup(void)
{
    snprintf(dir, sizeof(dir), "/tmp/km-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(chdir(dir), 0);
}

static void teardown(void)
{
    char cmd[100];

    ck_assert_int_eq(chdir("/"), 0);
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    ck_assert_int_eq(system(cmd), 0);
}

START_TEST(test_outfile_leaves_a_pipe)
{
    struct outfile f;
    struct stat st;
    char text[8];

    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    int fd = open("pipe", O_RDONLY | O_NONBLOCK);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(outfile_open(&f, "pipe", &e), 0);
    ck_assert_int_eq(io_write_full(f.fd, "text", 4, &e), 0);
    ck_assert_int_eq(outfile_commit(&f, &e), 0);
    ck_assert_int_eq(read(fd, text, sizeof(text)), 4);
    ck_assert_int_eq(stat("pipe", &st), 0);
    ck_assert(S_ISFIFO(st.st_mode));
    ck_assert_int_ne(access("pipe.part", F_OK), 0);
    ck_assert_int_eq(outfile_open(&f, "pipe", &e), 0);
    outfile_abort(&f);
    ck_assert_int_eq(stat("pipe", &st), 0);
    close(fd);
    /* a folder is neither */
    ck_assert_int_eq(outfile_open(&f, ".", &e), -1);
}
END_TEST

START_TEST(test_outfile_appears_whole)
{
    struct outfile f, g;
    struct buf b = BUF_INIT(100);
    int status, ids[2];
    pid_t worker;

    ck_assert_int_eq(pipe(ids), 0);
    ck_assert_int_eq(outfile_open(&f, "x", &e), 0);
    if (fork() == 0)
        _exit(outfile_open(&g, "x", &e) == -1 &&
                      strstr(e.msg, "written by another")
                  ? 0
                  : 1);
    ck_assert_int_gt(wait(&status), 0);
    ck_assert_int_eq(status, 0);
    /* a worker that outlives the writer does not hold the lock */
    if (fork() == 0) {
        if (outfile_open(&g, "w", &e) < 0)
            _exit(1);
        worker = fork();
        if (worker == 0) {
            sleep(30);
            _exit(0);
        }
        _exit(write(ids[1], &worker, sizeof(worker)) != sizeof(worker));
    }
    ck_assert_int_gt(wait(&status), 0);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(outfile_open(&g, "w", &e), 0);
    outfile_abort(&g);
    ck_assert_int_eq(read(ids[0], &worker, sizeof(worker)), sizeof(worker));
    kill(worker, SIGKILL);
    close(ids[0]);
    close(ids[1]);
    ck_assert_int_eq(io_write_full(f.fd, "abc", 3, &e), 0);
    ck_assert_int_eq(access("x", F_OK), -1);
    ck_assert_int_eq(outfile_commit(&f, &e), 0);
    outfile_abort(&f);
    ck_assert_int_eq(io_read_file(&b, "x", &e), 0);
    ck_assert_str_eq(b.p, "abc");
    ck_assert_int_eq(access("x.part", F_OK), -1);
    /* a part that a killed run left behind does not shine through */
    ck_assert_int_eq(outfile_write("y.part", SPAN_LIT("long leftover"), &e), 0);
    ck_assert_int_eq(outfile_write("y", SPAN_LIT("new"), &e), 0);
    buf_clear(&b);
    ck_assert_int_eq(io_read_file(&b, "y", &e), 0);
    ck_assert_str_eq(b.p, "new");
    ck_assert_int_eq(outfile_open(&f, "z", &e), 0);
    outfile_abort(&f);
    ck_assert_int_eq(access("z.part", F_OK), -1);
    ck_assert_int_eq(outfile_open(&f, "no/such/folder", &e), -1);
    buf_release(&b);
}
END_TEST

START_TEST(test_read_file_is_bounded)
{
    struct buf b = BUF_INIT(4);

    ck_assert_int_eq(outfile_write("x", SPAN_LIT("12345"), &e), 0);
    ck_assert_int_eq(io_read_file(&b, "x", &e), -1);
    ck_assert_int_eq(e.code, ERR_TOO_LARGE);
    buf_clear(&b);
    ck_assert_int_eq(outfile_write("x", SPAN_LIT("1234"), &e), 0);
    ck_assert_int_eq(io_read_file(&b, "x", &e), 0);
    ck_assert_str_eq(b.p, "1234");
    buf_release(&b);
}
END_TEST

START_TEST(test_memfd_is_sealed)
{
    int fd = io_memfd("m", SPAN_LIT("abc"), true, &e);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "x", 1), -1);
    ck_assert_int_eq(ftruncate(fd, 0), -1);
    close(fd);
}
END_TEST

START_TEST(test_cache_dir_is_made)
{
    char *p;

    setenv("KM_CACHE", "a/b", 1);
    p = io_cache_dir("c", &e);
    ck_assert_str_eq(p, "a/b/c");
    ck_assert_int_eq(access("a/b/c", W_OK), 0);
    free(p);
}
END_TEST

START_TEST(test_zstd_frames_and_limits)
{
    int fd = open("z", O_RDWR | O_CREAT, 0600), rc = 0;
    struct zsink *s = zsink_new(fd, "z", 9, 1000);
    struct zsource *in;
    char chunk[256], back[100000];
    size_t total = 0;
    ssize_t k;

    memset(chunk, 'k', sizeof(chunk));
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(zsink_write(s, chunk, sizeof(chunk), &e), 0);
        ck_assert_int_eq(zsink_boundary(s, &e), 0);
    }
    ck_assert_int_eq(zsink_finish(s, &e), 0);
    ck_assert_uint_eq(zsink_frames(s), 25); /* cut at 1024 bytes */
    zsink_free(s);
    lseek(fd, 0, SEEK_SET);
    in = zsource_new(fd, "z");
    while ((k = zsource_read(in, back, sizeof(back), &e)) > 0)
        total += (size_t)k;
    ck_assert_int_eq(k, 0);
    ck_assert_uint_eq(total, 25600);
    zsource_free(in);
    /* one byte short: inside the last frame */
    rc = ftruncate(fd, lseek(fd, 0, SEEK_END) - 1);
    ck_assert_int_eq(rc, 0);
    lseek(fd, 0, SEEK_SET);
    in = zsource_new(fd, "z");
    while ((k = zsource_read(in, back, sizeof(back), &e)) > 0)
        ;
    ck_assert_int_eq(k, -1);
    ck_assert_int_eq(e.code, ERR_TRUNCATED);
    zsource_free(in);
    close(fd);
}
END_TEST

START_TEST(test_large_zstd_window_is_refused)
{
    /* frame header asking for a window of 1 GiB, no content size */
    static const char frame[] = "\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00";
    int fd = io_memfd("z", (struct span){frame, 9}, false, &e);
    struct zsource *in = zsource_new(fd, "z");
    char c[10];

    ck_assert_int_eq(zsource_read(in, c, sizeof(c), &e), -1);
    ck_assert_int_eq(e.code, ERR_CORRUPT);
    zsource_free(in);
    close(fd);
}
END_TEST

START_TEST(test_store_first_writer_wins)
{
    struct store *s, *t;
    struct buf b = BUF_INIT(100);

    ck_assert_int_eq(store_open(&s, "s.sqlite", NULL, &e), 0);
    ck_assert_int_eq(store_open(&t, "s.sqlite", NULL, &e), 0);
    ck_assert_int_eq(store_get(s, "v", "k", &b, &e), 0);
    ck_assert_int_eq(store_put(s, "v", "k", SPAN_LIT("one\0two"), &e), 0);
    ck_assert_int_eq(store_put(t, "v", "k", SPAN_LIT("other"), &e), 0);
    ck_assert_int_eq(store_get(t, "v", "k", &b, &e), 1);
    ck_assert(span_eq(buf_span(&b), SPAN_LIT("one\0two")));
    buf_clear(&b);
    ck_assert_int_eq(store_get(t, "w", "k", &b, &e), 0);
    ck_assert_int_eq(store_drop(s, "w", "k", &e), 0);
    ck_assert_int_eq(store_drop(s, "v", "k", &e), 0);
    ck_assert_int_eq(store_get(t, "v", "k", &b, &e), 0);
    store_close(s);
    store_close(t);
    buf_release(&b);
    ck_assert_int_eq(outfile_write("bad", SPAN_LIT("not a database, no"), &e),
                     0);
    ck_assert_int_eq(store_open(&s, "bad", NULL, &e), -1);
}
END_TEST

START_TEST(test_proc_run)
{
    struct buf out = BUF_INIT(1000), log = BUF_INIT(5);
    struct proc_result r;
    const char *cat[] = {"cat", NULL};
    const char *sh[] = {"sh", "-c", "echo noise >&2; echo $TZ; exit 7", NULL};
    const char *slow[] = {"sh", "-c", "sleep 100 & sleep 100", NULL};
    const char *none[] = {"/no/such/program", NULL};
    struct proc_limits lim = {.wall_s = 0.3};
    double start = now_s();

    ck_assert_int_eq(
        proc_run(cat, SPAN_LIT("in\0put"), &out, NULL, NULL, &r, &e), 0);
    ck_assert(span_eq(buf_span(&out), SPAN_LIT("in\0put")));
    buf_clear(&out);
    ck_assert_int_eq(proc_run(sh, (struct span){0}, &out, &log, NULL, &r, &e),
                     0);
    ck_assert_int_eq(r.end, PROC_EXIT);
    ck_assert_int_eq(r.code, 7);
    ck_assert_str_eq(out.p, "UTC\n");
    ck_assert_str_eq(log.p, "noise");
    ck_assert_int_eq(proc_run(slow, (struct span){0}, &out, &log, &lim, &r, &e),
                     0);
    ck_assert_int_eq(r.end, PROC_TIMEOUT);
    ck_assert(now_s() - start < 20);
    ck_assert_int_eq(proc_run(none, (struct span){0}, &out, &log, NULL, &r, &e),
                     0);
    ck_assert_int_eq(r.code, 127);
    buf_release(&out);
    buf_release(&log);
}
END_TEST

START_TEST(test_proc_child_has_no_other_descriptors)
{
    struct buf out = BUF_INIT(1000);
    struct proc_result r;
    const char *ls[] = {"ls", "/proc/self/fd", NULL};
    int extra = open("/dev/null", O_RDONLY); /* not close-on-exec */

    ck_assert_int_ge(extra, 3);
    ck_assert_int_eq(proc_run(ls, (struct span){0}, &out, NULL, NULL, &r, &e),
                     0);
    ck_assert_str_eq(out.p, "0\n1\n2\n3\n"); /* 3 is the listing itself */
    close(extra);
    buf_release(&out);
}
END_TEST

struct seen {
    int n;
    bool order;
    int crashed, timed_out, errors;
};

static int work(void *state, struct span item, struct buf *out, struct err *er)
{
    volatile int x = 0;

    (void)state;
    if (span_starts(item, "crash"))
        raise(SIGSEGV);
    if (span_starts(item, "exit"))
        _exit(0);
    if (span_starts(item, "spin"))
        for (;;)
            x++;
    if (span_starts(item, "wait"))
        pause();
    if (span_starts(item, "fail"))
        return err_set(er, ERR_PARSE, "no good");
    if (span_starts(item, "slow"))
        usleep(50000);
    buf_adds(out, "<");
    buf_addspan(out, item);
    return buf_adds(out, ">");
}

static int result(void *payload, struct span item, int status, struct span out,
                  struct err *er)
{
    struct seen *s = payload;
    char want[40];

    snprintf(want, sizeof(want), "%03d", s->n++);
    s->order = s->order && span_ends(item, want);
    if (status < 0) {
        s->crashed += er->code == ERR_CRASH;
        s->timed_out += er->code == ERR_TIMEOUT;
        s->errors += er->code == ERR_PARSE;
        return 0;
    }
    snprintf(want, sizeof(want), "<%.*s>", (int)item.n, item.p);
    s->order = s->order && span_is(out, want);
    return 0;
}

START_TEST(test_pool_keeps_order_and_survives)
{
    struct seen seen = {.order = true};
    struct pool_ops ops = {.work = work,
                           .result = result,
                           .payload = &seen,
                           .jobs = _i + 1,
                           .cpu_s = 0.5,
                           .max_item = 1000};
    struct pool *p = pool_new(&ops);
    char item[40];

    for (int i = 0; i < 60; i++) {
        const char *what = i == 20   ? "crash"
                           : i == 30 ? "spin"
                           : i == 31 ? "exit"
                           : i == 40 ? "fail"
                           : i % 7   ? "ok"
                                     : "slow";
        snprintf(item, sizeof(item), "%s%03d", what, i);
        ck_assert_int_eq(pool_put(p, span_str(item), &e), 0);
    }
    ck_assert_int_eq(pool_drain(p, &e), 0);
    pool_free(p);
    ck_assert(seen.order);
    ck_assert_int_eq(seen.n, 60);
    ck_assert_int_eq(seen.timed_out, 1);
    ck_assert_int_eq(seen.errors, 1);
    ck_assert_int_eq(seen.crashed, 2);
}
END_TEST

static int stop_at_once(void *payload, struct span item, int status,
                        struct span out, struct err *er)
{
    (void)payload, (void)item, (void)status, (void)out;
    return err_set(er, ERR_SYS, "enough");
}

static int in_order(void *payload, struct span item, int status,
                    struct span out, struct err *er)
{
    struct seen *s = payload;
    char want[8];

    (void)out, (void)er;
    snprintf(want, sizeof(want), "%03d", s->n++);
    s->order = s->order && span_ends(item, want) &&
               status == (span_starts(item, "pass") ? POOL_PASSED : 0);
    return 0;
}

START_TEST(test_pool_passed_items_keep_their_place)
{
    struct seen seen = {.order = true};
    struct pool_ops ops = {.work = work,
                           .result = in_order,
                           .payload = &seen,
                           .jobs = _i + 1,
                           .max_item = 100};
    struct pool *p = pool_new(&ops);
    char item[20];

    for (int i = 0; i < 40; i++) {
        snprintf(item, sizeof(item), "%s%03d", i % 3 ? "pass" : "slow", i);
        ck_assert_int_eq(i % 3 ? pool_pass(p, span_str(item), &e)
                               : pool_put(p, span_str(item), &e),
                         0);
    }
    ck_assert_int_eq(pool_drain(p, &e), 0);
    pool_free(p);
    ck_assert(seen.order);
    ck_assert_int_eq(seen.n, 40);
}
END_TEST

START_TEST(test_pool_stops_when_told)
{
    struct pool_ops ops = {
        .work = work, .result = stop_at_once, .jobs = 2, .max_item = 10};
    struct pool *p = pool_new(&ops);
    int rc = pool_put(p, SPAN_LIT("a"), &e);

    if (rc == 0)
        rc = pool_drain(p, &e);
    ck_assert_int_eq(rc, -1);
    ck_assert_str_eq(e.msg, "enough");
    pool_free(p);
}
END_TEST

START_TEST(test_pool_gives_up_what_only_waits)
{
    struct seen seen = {.order = true};
    struct pool_ops ops = {.work = work,
                           .result = result,
                           .payload = &seen,
                           .jobs = 2,
                           .cpu_s = 60,
                           .idle_s = 0.5,
                           .max_item = 1000};
    struct pool *p = pool_new(&ops);
    static const char *const items[] = {"slow000", "wait001", "ok002",
                                        "slow003"};

    for (size_t i = 0; i < ARRAY_LEN(items); i++)
        ck_assert_int_eq(pool_put(p, span_str(items[i]), &e), 0);
    ck_assert_int_eq(pool_drain(p, &e), 0);
    pool_free(p);
    ck_assert(seen.order);
    ck_assert_int_eq(seen.n, 4);
    ck_assert_int_eq(seen.timed_out, 1);
}
END_TEST

START_TEST(test_pool_refuses_large_items_in_order)
{
    struct seen seen = {.order = true};
    struct pool_ops ops = {.work = work,
                           .result = result,
                           .payload = &seen,
                           .jobs = 2,
                           .max_item = 10};
    struct pool *p = pool_new(&ops);

    ck_assert_int_eq(pool_put(p, SPAN_LIT("slow000"), &e), 0);
    ck_assert_int_eq(pool_put(p, SPAN_LIT("too large 001"), &e), 0);
    ck_assert_int_eq(pool_put(p, SPAN_LIT("ok002"), &e), 0);
    ck_assert_int_eq(pool_drain(p, &e), 0);
    pool_free(p);
    ck_assert(seen.order);
    ck_assert_int_eq(seen.n, 3);
}
END_TEST

Suite *io_suite(void)
{
    Suite *s = suite_create("io");
    TCase *t = tcase_create("io");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_outfile_leaves_a_pipe);
    tcase_add_test(t, test_outfile_appears_whole);
    tcase_add_test(t, test_read_file_is_bounded);
    tcase_add_test(t, test_memfd_is_sealed);
    tcase_add_test(t, test_cache_dir_is_made);
    tcase_add_test(t, test_zstd_frames_and_limits);
    tcase_add_test(t, test_large_zstd_window_is_refused);
    tcase_add_test(t, test_store_first_writer_wins);
    tcase_add_test(t, test_proc_run);
    tcase_add_test(t, test_proc_child_has_no_other_descriptors);
    tcase_add_loop_test(t, test_pool_keeps_order_and_survives, 0, 3);
    tcase_add_loop_test(t, test_pool_passed_items_keep_their_place, 0, 3);
    tcase_add_test(t, test_pool_stops_when_told);
    tcase_add_test(t, test_pool_gives_up_what_only_waits);
    tcase_add_test(t, test_pool_refuses_large_items_in_order);
    suite_add_tcase(s, t);
    return s;
}
