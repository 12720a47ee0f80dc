/* SPDX-License-Identifier: MIT */
/* The stream in both encodings, with and without zstd; schema and ids. */
#include "base.h"

#include <check.h>
#include <sys/mman.h>

#include "io.h"
#include "rec.h"
#include "schema.h"

Suite *rec_suite(void);

static struct arena a;
static struct err e;

static void setup(void)
{
    a = (struct arena)ARENA_INIT;
}

static void teardown(void)
{
    arena_release(&a);
}

static struct val *module(int i)
{
    struct val *m = rec_new(&a, "module");

    val_set(&a, m, "repo", val_strz(&a, "example.org/owner/name"));
    val_set(&a, m, "commit", val_strz(&a, "c"));
    val_set(&a, m, "path", val_strf(&a, "f%d.py", i));
    val_set(&a, m, "blob", val_strz(&a, "b"));
    val_set(&a, m, "name", val_strz(&a, "Net"));
    val_set(&a, m, "line", val_int(&a, 1));
    val_set(&a, m, "end_line", val_int(&a, 9));
    val_set(&a, m, "later", val_strz(&a, "a field nobody knows"));
    rec_seal(&a, m);
    return m;
}

/* A stream of N modules, every third rejected. */
static struct span stream(enum rec_format f, int level, int n)
{
    int fd = memfd_create("stream", 0);
    struct rec_writer *w = rec_writer_new(fd, "out", f, level);
    struct buf b = BUF_INIT(64 << 20);
    struct span s;

    ck_assert_int_eq(rec_write_header(w, "km-test", NULL, NULL, &e), 0);
    for (int i = 0; i < n; i++) {
        struct val *m = module(i);
        if (i % 3 == 2)
            rec_fail(&a, m, "clean", ERR_UNSAFE, "os.system");
        ck_assert_int_eq(rec_write(w, m, &e), 0);
    }
    ck_assert_int_eq(rec_write_end(w, &e), 0);
    ck_assert_uint_eq(rec_written(w).total, (uint64_t)n);
    rec_writer_free(w);
    lseek(fd, 0, SEEK_SET);
    ck_assert_int_eq(io_read_fd(&b, fd, &e), 0);
    close(fd);
    s = arena_span(&a, buf_span(&b));
    buf_release(&b);
    return s;
}

/* Read all; returns the last code, *N = records. */
static int read_all(struct span s, bool bare, int *n)
{
    int fd = io_memfd("in", s, false, &e), rc;
    struct rec_reader *r = rec_reader_new(fd, "in", bare);
    struct arena mine = ARENA_INIT;
    struct val *v;

    for (*n = 0; (rc = rec_read(r, &mine, &v, &e)) == KM_OK; ++*n)
        ck_assert_ptr_nonnull(rec_kind(v).p);
    arena_release(&mine);
    rec_reader_free(r);
    close(fd);
    return rc;
}

START_TEST(test_round_trip_in_all_forms)
{
    static const struct {
        enum rec_format f;
        int level;
    } forms[] = {
        {REC_MSGPACK, 0}, {REC_JSON, 0}, {REC_MSGPACK, 9}, {REC_JSON, 9}};
    int n;

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct span s = stream(forms[i].f, forms[i].level, 10);
        ck_assert_int_eq(read_all(s, false, &n), KM_END);
        ck_assert_int_eq(n, 10);
    }
}
END_TEST

START_TEST(test_cut_at_every_byte_is_dead)
{
    enum rec_format f = _i & 1 ? REC_JSON : REC_MSGPACK;
    struct span s = stream(f, _i & 2 ? 9 : 0, 3);
    int n;

    for (size_t cut = 0; cut < s.n; cut++) {
        struct span part = {s.p, cut};
        int rc = read_all(part, false, &n);
        /* without the last line end a JSON stream is still whole */
        if (f == REC_JSON && !(_i & 2) && cut == s.n - 1)
            continue;
        ck_assert_msg(rc == KM_DEAD || rc == KM_RECORD, "cut at %zu of %zu: %d",
                      cut, s.n, rc);
    }
}
END_TEST

START_TEST(test_a_flipped_bit_never_passes)
{
    struct span s = stream(REC_MSGPACK, _i ? 9 : 0, 3);
    int n;

    for (size_t at = 0; at < s.n; at++) {
        char *copy = arena_strdup(&a, s);
        /* bit 4 of zstd's frame descriptor is unused: nothing changes */
        if (_i && at == 4)
            continue;
        copy[at] ^= 0x10;
        ck_assert_msg(read_all((struct span){copy, s.n}, false, &n) != KM_END,
                      "bit at %zu", at);
    }
}
END_TEST

START_TEST(test_newer_version_is_refused)
{
    int n;

    ck_assert_int_eq(
        read_all(SPAN_LIT("{\"kind\":\"header\",\"v\":2}\n"), false, &n),
        KM_DEAD);
    ck_assert_int_eq(e.code, ERR_VERSION);
    ck_assert_ptr_nonnull(strstr(e.msg, "version 2"));
}
END_TEST

START_TEST(test_not_a_stream)
{
    int n;

    ck_assert_int_eq(read_all(SPAN_LIT("hello"), false, &n), KM_DEAD);
    ck_assert_ptr_nonnull(strstr(e.msg, "not a record stream"));
    ck_assert_int_eq(read_all(SPAN_LIT(""), false, &n), KM_DEAD);
    ck_assert_int_eq(e.code, ERR_TRUNCATED);
    ck_assert_int_eq(read_all(SPAN_LIT(""), true, &n), KM_END);
    ck_assert_int_eq(read_all(SPAN_LIT("{\"kind\":\"module\"}\n"), false, &n),
                     KM_DEAD);
}
END_TEST

START_TEST(test_bare_json_and_bad_lines)
{
    int n;

    ck_assert_int_eq(read_all(SPAN_LIT("{\"kind\":\"module\"}\n\n"
                                       "{\"kind\":\"module\"}"),
                              true, &n),
                     KM_END);
    ck_assert_int_eq(n, 2);
    ck_assert_int_eq(
        read_all(SPAN_LIT("{\"kind\":\"module\"}\n{oops}\n"), true, &n),
        KM_RECORD);
    ck_assert_ptr_nonnull(strstr(e.msg, "line 2 at byte 18"));
}
END_TEST

START_TEST(test_data_after_end_is_refused)
{
    struct span s = stream(REC_MSGPACK, 0, 1);
    char *p = arena_alloc(&a, s.n + 1);
    int n;

    memcpy(p, s.p, s.n);
    p[s.n] = '\x80';
    ck_assert_int_eq(read_all((struct span){p, s.n + 1}, false, &n), KM_DEAD);
    ck_assert_ptr_nonnull(strstr(e.msg, "after the end"));
}
END_TEST

START_TEST(test_header_chain_grows)
{
    int fd = memfd_create("s", 0);
    struct rec_writer *w = rec_writer_new(fd, "out", REC_MSGPACK, 0);
    struct rec_reader *r;
    const struct val *h;
    struct val *up = val_map(&a), *opts = val_map(&a);

    val_set(&a, opts, "rev", val_strz(&a, "v1"));
    val_set(&a, up, "program", val_strz(&a, "km-harvest"));
    val_set(&a, up, "options", opts);
    ck_assert_int_eq(rec_write_header(w, "km-clean", NULL, up, &e), 0);
    ck_assert_int_eq(rec_write_end(w, &e), 0);
    rec_writer_free(w);
    lseek(fd, 0, SEEK_SET);
    r = rec_reader_new(fd, "in", false);
    ck_assert_int_eq(rec_header(r, &h, &e), 0);
    ck_assert(span_is(val_gets(h, "program"), "km-clean"));
    ck_assert(span_is(
        val_as_str(val_path(val_at(val_get(h, "chain"), 0), "options.rev")),
        "v1"));
    rec_reader_free(r);
    close(fd);
}
END_TEST

START_TEST(test_id_ignores_state_and_measurements)
{
    struct val *m = module(1), *n = module(2);
    char id[ID_HEX + 1], other[ID_HEX + 1];

    schema_id(id, m);
    ck_assert(span_is(rec_id(m), id));
    rec_fail(&a, m, "clean", ERR_UNSAFE, NULL);
    val_set(&a, m, "line", val_int(&a, 77));
    schema_id(other, m);
    ck_assert_str_eq(id, other);
    schema_id(other, n);
    ck_assert_str_ne(id, other);
    ck_assert_uint_eq(strlen(id), ID_HEX);
}
END_TEST

START_TEST(test_fail_drops_bulk_and_keeps_the_id)
{
    struct val *f = rec_new(&a, "file");
    char *id;

    val_set(&a, f, "repo", val_strz(&a, "r"));
    val_set(&a, f, "source", val_strz(&a, "import torch"));
    rec_fail(&a, f, "harvest", ERR_PARSE, "line 3");
    rec_fail(&a, f, "clean", ERR_TIMEOUT, NULL);
    ck_assert_ptr_null(val_get(f, "source"));
    ck_assert(span_is(val_gets(f, "state"), "failed"));
    ck_assert(
        span_is(val_as_str(val_at(val_get(f, "why"), 0)), "harvest.parse"));
    ck_assert(
        span_is(val_as_str(val_at(val_get(f, "why"), 1)), "clean.timeout"));
    id = arena_strdup(&a, rec_id(f));
    rec_seal(&a, f);
    ck_assert(span_is(rec_id(f), id));
    ck_assert(span_is(f->map.keys[0], "kind"));
}
END_TEST

START_TEST(test_schema_check)
{
    struct val *m = module(1);

    ck_assert_int_eq(schema_check(&a, m, &e), 0);
    val_set(&a, m, "line", val_strz(&a, "x"));
    ck_assert_int_eq(schema_check(&a, m, &e), -1);
    ck_assert_str_eq(e.msg, "module: 'line' has the wrong type");
    val_del(m, "line");
    ck_assert_int_eq(schema_check(&a, m, &e), -1);
    ck_assert_str_eq(e.msg, "module without 'line'");
    rec_fail(&a, m, "x", ERR_UNSAFE, NULL);
    ck_assert_int_eq(schema_check(&a, m, &e), 0);
    val_set(&a, m, "state", val_strz(&a, "fine"));
    ck_assert_int_eq(schema_check(&a, m, &e), -1);
}
END_TEST

START_TEST(test_schema_widens_integers)
{
    struct val *s = rec_new(&a, "step");

    rec_fail(&a, s, "select", ERR_INCORRECT, NULL);
    val_set(&a, s, "gain", val_int(&a, 1));
    ck_assert_int_eq(schema_check(&a, s, &e), 0);
    ck_assert_int_eq(val_get(s, "gain")->type, VAL_FLOAT);
}
END_TEST

START_TEST(test_record_over_the_limit)
{
    int fd = memfd_create("s", 0);
    struct rec_writer *w = rec_writer_new(fd, "out", REC_MSGPACK, 0);
    struct val *m = module(1);
    char *big = xmalloc(REC_MAX);

    memset(big, 'x', REC_MAX);
    val_set(&a, m, "source", val_str(&a, (struct span){big, REC_MAX}));
    free(big);
    ck_assert_int_eq(rec_write_header(w, "p", NULL, NULL, &e), 0);
    ck_assert_int_eq(rec_write(w, m, &e), -1);
    ck_assert_int_eq(e.code, ERR_TOO_LARGE);
    rec_writer_free(w);
    close(fd);
}
END_TEST

Suite *rec_suite(void)
{
    Suite *s = suite_create("rec");
    TCase *t = tcase_create("rec");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_round_trip_in_all_forms);
    tcase_add_loop_test(t, test_cut_at_every_byte_is_dead, 0, 4);
    tcase_add_loop_test(t, test_a_flipped_bit_never_passes, 0, 2);
    tcase_add_test(t, test_newer_version_is_refused);
    tcase_add_test(t, test_not_a_stream);
    tcase_add_test(t, test_bare_json_and_bad_lines);
    tcase_add_test(t, test_data_after_end_is_refused);
    tcase_add_test(t, test_header_chain_grows);
    tcase_add_test(t, test_id_ignores_state_and_measurements);
    tcase_add_test(t, test_fail_drops_bulk_and_keeps_the_id);
    tcase_add_test(t, test_schema_check);
    tcase_add_test(t, test_schema_widens_integers);
    tcase_add_test(t, test_record_over_the_limit);
    suite_add_tcase(s, t);
    return s;
}
