/* SPDX-License-Identifier: MIT */
/* Which records km-cat lets through. */
#ifndef KM_FILTER_H
#define KM_FILTER_H

#include "array.h"
#include "val.h"

struct condition {
    char *field; /* dotted */
    struct span value;
};

struct filter {
    ARRAY(struct span) kinds, states; /* empty = all */
    ARRAY(struct condition) where;    /* all must hold */
};

/* Add a comma-separated LIST; borrowed. -1: an empty name in it. */
int filter_kinds(struct filter *f, const char *list) MUST_USE;
int filter_states(struct filter *f, const char *list) MUST_USE;
/* Add "FIELD=VALUE"; borrowed. -1: no '=' or no field. */
int filter_where(struct filter *f, const char *condition) MUST_USE;
bool filter_passes(const struct filter *f, const struct val *rec);
/* Does V, as text, number, "true", "false" or "" (nil, absent), equal TEXT? A
 * list does when one of its items does. */
bool filter_equals(const struct val *v, struct span text);
void filter_release(struct filter *f);

#endif
