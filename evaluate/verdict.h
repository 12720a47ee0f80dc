/* SPDX-License-Identifier: MIT */
/* Verdict records: put together from what the parent and the judge found. */
#ifndef KM_EVALUATE_VERDICT_H
#define KM_EVALUATE_VERDICT_H

#include "evaluate/feedback.h"
#include "evaluate/outcome.h"
#include "schema.h"

struct verdict_parts {
    const struct val *revision;
    const char *device_class;
    struct val *options;
    enum feedback_level feedback;
    const struct val *static_findings; /* list */
    struct val *contract;              /* map */
    int built;                         /* -1 = not needed */
    const struct val *judged;          /* the judge's reply, or NULL */
    struct val *device;                /* map or NULL */
    /* Without a judge: */
    enum outcome outcome;
    const char *message; /* for people and the model; may be NULL */
};

struct val *verdict_new(struct arena *a, const struct verdict_parts *p);
/* A verdict of state failed: stage.CODE, with NOTE. */
struct val *verdict_failed(struct arena *a, const struct verdict_parts *p,
                           enum err_code code, const char *note);
/* All fields but those that name the revision, as kept in the store; and the
 * way back. */
struct val *verdict_body(struct arena *a, const struct val *verdict);
struct val *verdict_from_body(struct arena *a, const struct verdict_parts *p,
                              const struct val *body);
/* The body in BYTES of a store, copied to A; NULL when it is damaged. */
struct val *verdict_read_body(struct arena *a, struct span bytes);

#endif
