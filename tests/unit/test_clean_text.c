/* SPDX-License-Identifier: MIT */
/* Secrets, edits, the list of packages, the table of unsafe names. */
#include "base.h"

#include <check.h>

#include "clean/edit.h"
#include "clean/policy.h"
#include "clean/secret.h"
#include "py/unsafe.h"

Suite *clean_text_suite(void);

struct secret {
    const char *text;
    bool code;
    const char *what;
};

static const struct secret secrets[] = {
    {"key AKIAIOSFODNN7EXAMPLE.", false, "AWS access key"},
    {"XAKIAIOSFODNN7EXAMPLE", false, NULL},
    {"AKIAIOSFODNN7", false, NULL},
    {"ghp_0123456789abcdefghijABCDEFGHIJ012345", true, "GitHub token"},
    {"ghp_short", true, NULL},
    {"hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", true, "Hugging Face token"},
    {"hf_hub_download", true, NULL},
    {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x", true, "JSON web token"},
    {"eyJhbGciOi", true, NULL},
    {"sk-proj-abcdefghijklmnopqrstuvwxyz0123", true, "OpenAI key"},
    {"task-0123456789012345678901234567890123456789", true, NULL},
    {"-----BEGIN RSA PRIVATE KEY-----\nMII", false, "private key"},
    {"-----BEGIN CERTIFICATE-----", false, NULL},
    {"mail a.b+c@example.org now", false, "e-mail address"},
    {"mail a@example.org.", false, "e-mail address"},
    {"x@weight.data", true, NULL},
    {"@property", false, NULL},
    {"a@b", false, NULL},
    {"a@b.c1", false, NULL},
    {"@example.org", false, NULL},
    {"see http://wiki.corp/page", false, "internal URL"},
    {"see http://10.1.2.3:80/", false, "internal URL"},
    {"see http://192.168.0.1", false, "internal URL"},
    {"see https://172.32.0.1", false, NULL},
    {"see https://8.8.8.8", false, NULL},
    {"https://arxiv.org/abs/1706.03762", false, NULL},
    {"https://me:pass@host.org/x", false, "password in a URL"},
    {"aws_secret_access_key = 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYab'", true,
     "AWS secret key"},
    {"api_key=\"0123456789abcdef0123456789abcdef\"", true, "API key"},
    {"api_key=None", true, NULL},
    {"at 10.0.0.12.", false, "private address"},
    {"'192.168.1.5:80'", true, "private address"},
    {"1.10.0.0.12", false, NULL},
    {"10.0.0", false, NULL},
    {"10.0.0.1.2", false, NULL},
    {"v10.0.0.1", false, NULL},
    {"10.0.0.300", false, NULL},
    {"'/home/jdoe/data'", true, "home folder"},
    {"file:///Users/jdoe/x", false, "home folder"},
    {"/home/user/data", false, NULL},
    {"/home/jdoe", false, NULL},
    {"https://a.org/home/jdoe/x", false, NULL},
    {"'C:\\\\Users\\\\jdoe'", true, "home folder"},
    {"C:/Users/jdoe/x", false, "home folder"},
    {"C:\\Users\\Public", false, NULL},
    {"C:\\Users", false, NULL},
    {"", false, NULL},
};

START_TEST(test_secret)
{
    const struct secret *s = &secrets[_i];
    const char *what = secret_find(span_str(s->text), s->code);

    if (s->what)
        ck_assert_str_eq(what, s->what);
    else
        ck_assert_ptr_null(what);
}
END_TEST

/* A finding cut off at the end of the text must not read behind it. */
START_TEST(test_secret_bounds)
{
    const struct secret *s = &secrets[_i];
    size_t n = strlen(s->text);

    for (size_t i = 0; i <= n; i++) {
        char *p = malloc(i + 1); /* not NUL-terminated, for the sanitizer */

        memcpy(p, s->text, i);
        (void)secret_find((struct span){p, i}, s->code);
        free(p);
    }
}
END_TEST

static char *apply(struct edits *e, const char *text)
{
    struct buf out = BUF_INIT(1000);

    ck_assert_int_eq(
        edit_apply(e, span_str(text), 0, (uint32_t)strlen(text), &out), 0);
    array_release(e);
    return buf_detach(&out, NULL);
}

static uint32_t at(const char *text, const char *part)
{
    return (uint32_t)(strstr(text, part) - text);
}

START_TEST(test_edit_order)
{
    struct edits e = {0};
    char *s;

    edit_add(&e, 4, 5, SPAN_LIT("E"));
    edit_add(&e, 1, 2, SPAN_LIT("BB"));
    edit_add(&e, 2, 4, SPAN_LIT("")); /* touches both */
    s = apply(&e, "abcdef");
    ck_assert_str_eq(s, "aBBEf");
    free(s);
    edit_add(&e, 2, 3, SPAN_LIT("x")); /* inside of the next */
    edit_add(&e, 1, 5, SPAN_LIT("-"));
    s = apply(&e, "abcdef");
    ck_assert_str_eq(s, "a-f");
    free(s);
}
END_TEST

struct removal_case {
    const char *text, *part;
    bool comment;
    const char *want;
};

static const struct removal_case removals[] = {
    {"a\n  print()\nb\n", "print()", false, "a\nb\n"},
    {"a\n  print()  # why\nb\n", "print()", false, "a\nb\n"},
    {"a\n  print(); c\nb\n", "print()", false, "a\n  pass; c\nb\n"},
    {"if a: print()\nb\n", "print()", false, "if a: pass\nb\n"},
    {"a\n  # c\nb\n", "# c", true, "a\nb\n"},
    {"a  # c\nb\n", "# c", true, "a\nb\n"},
    {"a\n\n# c\n\nb\n", "# c", true, "a\n\nb\n"},
    {"def a():\n    # c\n\n    b\n", "# c", true, "def a():\n    b\n"},
    {"a\n# c", "# c", true, "a"},
};

START_TEST(test_edit_remove)
{
    const struct removal_case *c = &removals[_i];
    struct edits e = {0};
    uint32_t start = at(c->text, c->part);
    uint32_t end = start + (uint32_t)strlen(c->part);
    char *s;

    if (c->comment)
        edit_remove_comment(&e, span_str(c->text), start, end);
    else
        edit_remove(&e, span_str(c->text), start, end);
    s = apply(&e, c->text);
    ck_assert_str_eq(s, c->want);
    free(s);
}
END_TEST

START_TEST(test_policy)
{
    static const char *const more[] = {"timm"};
    struct policy p = {.allow = more, .n_allow = 1};
    size_t n;

    ck_assert(policy_allows(&p, SPAN_LIT("torch.nn.functional")));
    ck_assert(policy_allows(&p, SPAN_LIT("math")));
    ck_assert(policy_allows(&p, SPAN_LIT("timm.layers")));
    ck_assert(!policy_allows(&p, SPAN_LIT("torchvision")));
    ck_assert(!policy_allows(&p, SPAN_LIT("tor")));
    ck_assert(!policy_allows(&p, SPAN_LIT("")));
    ck_assert_str_eq(policy_renamed(SPAN_LIT("packaging.version"), &n),
                     "torch._vendor.packaging");
    ck_assert_uint_eq(n, strlen("packaging"));
    ck_assert_ptr_null(policy_renamed(SPAN_LIT("package"), &n));
    ck_assert(policy_has(&p, SPAN_LIT("packaging")));
    ck_assert(policy_silent(SPAN_LIT("wandb.log")));
    ck_assert(!policy_silent(SPAN_LIT("warnings.warn")));
}
END_TEST

/* The lookup is a binary search: lists out of order would hide names. */
START_TEST(test_unsafe_sorted)
{
    static const char *const names[] = {
#define UNSAFE(name, what)      name,
#define UNSAFE_CALL(name, what) name,
#include "py/unsafe.def"
    };
    static const char *const safe[] = {
#define SAFE(name) name,
#include "py/unsafe.def"
    };
    static const char *const attrs[] = {
#define UNSAFE_ATTR(name, what) name,
#include "py/unsafe.def"
    };

    for (size_t i = 1; i < ARRAY_LEN(names); i++)
        ck_assert_str_lt(names[i - 1], names[i]);
    for (size_t i = 1; i < ARRAY_LEN(safe); i++)
        ck_assert_str_lt(safe[i - 1], safe[i]);
    for (size_t i = 1; i < ARRAY_LEN(attrs); i++)
        ck_assert_str_lt(attrs[i - 1], attrs[i]);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        ck_assert_ptr_nonnull(py_unsafe_find(span_str(names[i])));
    for (size_t i = 0; i < ARRAY_LEN(safe); i++)
        ck_assert_ptr_null(py_unsafe_find(span_str(safe[i])));
    for (size_t i = 0; i < ARRAY_LEN(attrs); i++)
        ck_assert_ptr_nonnull(py_unsafe_attr(span_str(attrs[i])));
}
END_TEST

struct unsafe_case {
    const char *name, *entry; /* NULL: safe */
};

static const struct unsafe_case unsafe_cases[] = {
    {"os.system", "os"},
    {"os.path.join", NULL},
    {"os.path.exists", "os"},
    {"os.path.joint", "os"},
    {"torch.load", "torch.load"},
    {"torch.loader", NULL},
    {"torch.nn.Linear", NULL},
    {"torch.os.system", "os"},
    {"torch.os.path.join", NULL},
    {"random._os.urandom", "os"},
    {"torch.utils.data.Dataset", NULL},
    {"torch.utils.data.DataLoader", "torch.utils.data"},
    {"builtins.open", "builtins.open"},
    {"builtins.len", NULL},
    {"sys.platform", NULL},
    {"sys", "sys"},
    {"", NULL},
    {"subprocess", "subprocess"},
};

START_TEST(test_unsafe_find)
{
    const struct unsafe_case *c = &unsafe_cases[_i];
    const struct py_unsafe *u = py_unsafe_find(span_str(c->name));

    if (c->entry)
        ck_assert_str_eq(u->name, c->entry);
    else
        ck_assert_ptr_null(u);
}
END_TEST

Suite *clean_text_suite(void)
{
    Suite *s = suite_create("clean_text");
    TCase *tc = tcase_create("text");

    tcase_add_loop_test(tc, test_secret, 0, (int)ARRAY_LEN(secrets));
    tcase_add_loop_test(tc, test_secret_bounds, 0, (int)ARRAY_LEN(secrets));
    tcase_add_test(tc, test_edit_order);
    tcase_add_loop_test(tc, test_edit_remove, 0, (int)ARRAY_LEN(removals));
    suite_add_tcase(s, tc);
    tc = tcase_create("tables");
    tcase_add_test(tc, test_policy);
    tcase_add_test(tc, test_unsafe_sorted);
    tcase_add_loop_test(tc, test_unsafe_find, 0, (int)ARRAY_LEN(unsafe_cases));
    suite_add_tcase(s, tc);
    return s;
}
