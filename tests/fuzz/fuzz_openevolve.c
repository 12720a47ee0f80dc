/* SPDX-License-Identifier: MIT */
/*
 * A program file of a run, with its reply replayed. Whatever the bytes are:
 * a record that fits the schema, or an error with a message.
 */
#include "base.h"

#include "schema.h"
#include "trajectories/lineage.h"
#include "trajectories/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = ARENA_INIT;
    struct span json = {(const char *)data, size};
    struct val *rec = NULL;
    struct err e = {0};
    bool migrant, diff;
    if (import_program(&a, json, SPAN_LIT("stem"), "combined_score", &rec,
                       &migrant, &e) != 0) {
        if (!e.msg[0])
            abort();
    } else {
        struct span reply = val_gets(rec, "reply");
        struct span code = val_gets(rec, "code");
        struct span parent =
            val_gets(val_at(val_get(rec, "prompt"), 0), "content");
        if (schema_check(&a, rec, &e) != 0 && e.code != ERR_SCHEMA)
            abort();
        /* A code given as its own reply is a whole program or a diff. */
        (void)replay_check(parent, reply, val_gets(rec, "language"), code,
                           &diff);
        (void)replay_check(code, reply, SPAN_LIT("python"), parent, &diff);
    }
    arena_release(&a);
    return 0;
}
