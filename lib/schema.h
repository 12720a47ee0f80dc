/* SPDX-License-Identifier: MIT */
/*
 * The record kinds and their fields, from schema.def: types, which fields
 * make up the identity, and which are bulk (dropped once a record is
 * rejected).
 */
#ifndef KM_SCHEMA_H
#define KM_SCHEMA_H

#include "hash.h"
#include "val.h"

enum field_type { F_STR, F_INT, F_FLOAT, F_BOOL, F_LIST, F_MAP, F_ANY };
enum { F_ID = 1, F_BULK = 2, F_NEED = 4 }; /* identity, bulk, required if ok */

struct schema_field {
    const char *name;
    enum field_type type;
    unsigned flags;
    const char *about;
};

struct schema_kind {
    const char *name, *about;
    const struct schema_field *fields;
    size_t n_fields;
};

const struct schema_kind *schema_find(struct span kind); /* NULL if unknown */
const struct schema_kind *schema_kinds(size_t *n);

/* Compute the id of REC from its kind's identity fields: 32 hex digits of
 * SHA-256 over the kind and the packed identity fields in schema order. */
void schema_id(char out[ID_HEX + 1], const struct val *rec);

/* New record of KIND with state ok; the caller sets fields, then calls
 * rec_seal, which puts kind, id, state, why first and fills the id. */
struct val *rec_new(struct arena *a, const char *kind);
void rec_seal(struct arena *a, struct val *rec);
/* state = the code's default (rejected or failed), why += "STAGE.code",
 * note = NOTE (may be NULL); bulk fields are removed. Id unchanged. */
void rec_fail(struct arena *a, struct val *rec, const char *stage,
              enum err_code code, const char *note);
/* why += "STAGE.code" without a change of state. */
void rec_why(struct arena *a, struct val *rec, const char *stage,
             enum err_code code);
struct span rec_kind(const struct val *rec);
struct span rec_id(const struct val *rec);
bool rec_ok(const struct val *rec);

/* Check types (an integer widens to float in place) and required fields; -1
 * with ERR_SCHEMA. Unknown kinds and fields pass. */
int schema_check(struct arena *a, struct val *rec, struct err *e) MUST_USE;

#endif
