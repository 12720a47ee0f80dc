/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/policy.h"

static const char *const allowed[] = {
#define ALLOW(package) package,
#include "clean/allow.def"
};

static const struct {
    const char *package, *there;
} renamed[] = {
#define RENAMED(package, there) {package, there},
#include "clean/allow.def"
};

static const char *const absent[] = {
#define ABSENT(name) name,
#include "clean/allow.def"
};

static const char *const silent[] = {
#define SILENT(package) package,
#include "clean/allow.def"
};

static struct span top_of(struct span dotted)
{
    const char *dot = dotted.n ? memchr(dotted.p, '.', dotted.n) : NULL;

    return dot ? (struct span){dotted.p, (size_t)(dot - dotted.p)} : dotted;
}

bool policy_allows(const struct policy *p, struct span dotted)
{
    struct span top = top_of(dotted);

    for (size_t i = 0; i < ARRAY_LEN(allowed); i++)
        if (span_is(top, allowed[i]))
            return true;
    for (size_t i = 0; i < p->n_allow; i++)
        if (span_is(top, p->allow[i]))
            return true;
    return false;
}

const char *policy_renamed(struct span dotted, size_t *top_len)
{
    struct span top = top_of(dotted);

    for (size_t i = 0; i < ARRAY_LEN(renamed); i++) {
        if (span_is(top, renamed[i].package)) {
            *top_len = top.n;
            return renamed[i].there;
        }
    }
    return NULL;
}

bool policy_silent(struct span dotted)
{
    struct span top = top_of(dotted);

    return span_in(top, silent, ARRAY_LEN(silent));
}

bool policy_absent(struct span dotted)
{
    for (size_t i = 0; i < ARRAY_LEN(absent); i++) {
        size_t n = strlen(absent[i]);

        if (span_starts(dotted, absent[i]) &&
            (dotted.n == n || dotted.p[n] == '.'))
            return true;
    }
    return false;
}

bool policy_has(const struct policy *p, struct span dotted)
{
    size_t len;

    if (policy_absent(dotted))
        return false;
    return policy_allows(p, dotted) || policy_renamed(dotted, &len) != NULL;
}
