/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "log.h"
#include "schema.h"

enum field_row { ROW_KIND, ROW_FIELD };

/* One flat list from the table; kinds point into it. */
static const struct row {
    enum field_row row;
    struct schema_field f;
} rows[] = {
#define KIND(n, about)            {ROW_KIND, {n, F_ANY, 0, about}},
#define FIELD(n, t, flags, about) {ROW_FIELD, {n, t, flags, about}},
#include "schema.def"
#undef KIND
#undef FIELD
};

#define MAX_KINDS  24
#define MAX_FIELDS ARRAY_LEN(rows)

static struct schema_kind kinds[MAX_KINDS];
static struct schema_field fields[MAX_FIELDS];
static size_t n_kinds;

static void build(void)
{
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].row == ROW_KIND) {
            kinds[n_kinds++] = (struct schema_kind){
                rows[i].f.name, rows[i].f.about, fields + n, 0};
        } else {
            fields[n++] = rows[i].f;
            kinds[n_kinds - 1].n_fields++;
        }
    }
}

const struct schema_kind *schema_kinds(size_t *n)
{
    if (!n_kinds)
        build();
    if (n)
        *n = n_kinds;
    return kinds;
}

const struct schema_kind *schema_find(struct span kind)
{
    size_t n;
    const struct schema_kind *k = schema_kinds(&n);

    for (size_t i = 0; i < n; i++) {
        if (span_is(kind, k[i].name))
            return k + i;
    }
    return NULL;
}

void schema_id(char out[ID_HEX + 1], const struct val *rec)
{
    static const struct val nil = {.type = VAL_NIL};
    struct span kind = rec_kind(rec);
    const struct schema_kind *k = schema_find(kind);
    struct sha256 *h = sha256_new();
    struct buf b = BUF_INIT(SIZE_MAX / 2);
    char hex[HASH_HEX + 1];

    sha256_add_field(h, kind);
    for (size_t i = 0; k && i < k->n_fields; i++) {
        const struct val *v;
        if (!(k->fields[i].flags & F_ID))
            continue;
        v = val_get(rec, k->fields[i].name);
        buf_clear(&b);
        /* the buffer has no limit that a record could reach */
        if (val_pack(&b, v ? v : &nil) < 0)
            bug("cannot pack an identity field");
        sha256_add_field(h, buf_span(&b));
    }
    sha256_hex(h, hex);
    sha256_free(h);
    buf_release(&b);
    memcpy(out, hex, ID_HEX);
    out[ID_HEX] = '\0';
}

struct span rec_kind(const struct val *rec)
{
    return val_gets(rec, "kind");
}

struct span rec_id(const struct val *rec)
{
    return val_gets(rec, "id");
}

bool rec_ok(const struct val *rec)
{
    return span_is(val_gets(rec, "state"), "ok");
}

struct val *rec_new(struct arena *a, const char *kind)
{
    struct val *r = val_map(a);

    val_set(a, r, "kind", val_strz(a, kind));
    val_set(a, r, "id", val_nil(a));
    val_set(a, r, "state", val_strz(a, "ok"));
    val_set(a, r, "why", val_list(a));
    return r;
}

void rec_seal(struct arena *a, struct val *rec)
{
    static const char *const first[] = {"kind", "id", "state", "why"};
    struct val old = *rec;
    char id[ID_HEX + 1];

    if (!val_get(rec, "state"))
        val_set(a, rec, "state", val_strz(a, "ok"));
    if (!val_get(rec, "why"))
        val_set(a, rec, "why", val_list(a));
    /* an id once given stays: bulk that is part of it may be gone */
    if (!rec_id(rec).p) {
        schema_id(id, rec);
        val_set(a, rec, "id", val_strz(a, id));
    }
    old = *rec;
    rec->map.keys = NULL;
    rec->map.v = NULL;
    rec->map.n = rec->map.cap = 0;
    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        val_set(a, rec, first[i], val_get(&old, first[i]));
    for (uint32_t i = 0; i < old.map.n; i++)
        val_set(a, rec, old.map.keys[i].p, old.map.v[i]);
}

void rec_why(struct arena *a, struct val *rec, const char *stage,
             enum err_code code)
{
    struct val *why = val_get(rec, "why");

    if (!why || why->type != VAL_LIST) {
        why = val_list(a);
        val_set(a, rec, "why", why);
    }
    val_push(a, why, val_strf(a, "%s.%s", stage, err_code_name(code)));
}

static bool fits(struct arena *a, struct val *map, const char *name,
                 struct val *v, enum field_type t)
{
    switch (t) {
    case F_STR:
        return v->type == VAL_STR;
    case F_INT:
        return v->type == VAL_INT;
    case F_FLOAT:
        if (v->type == VAL_INT)
            val_set(a, map, name, val_float(a, (double)v->i));
        return v->type == VAL_FLOAT || v->type == VAL_INT;
    case F_BOOL:
        return v->type == VAL_BOOL;
    case F_LIST:
        return v->type == VAL_LIST;
    case F_MAP:
        return v->type == VAL_MAP;
    case F_ANY:
        break;
    }
    return true;
}

/* A field of the wrong type must not travel on: readers would refuse the whole
 * stream. False when the identity was among them. */
static bool drop_misfits(struct arena *a, struct val *rec,
                         const struct schema_kind *k)
{
    bool same = true;

    for (size_t i = 0; k && i < k->n_fields; i++) {
        const struct schema_field *f = k->fields + i;
        struct val *v = val_get(rec, f->name);

        if (!v || v->type == VAL_NIL || fits(a, rec, f->name, v, f->type))
            continue;
        val_del(rec, f->name);
        same &= !(f->flags & F_ID);
    }
    return same;
}

void rec_fail(struct arena *a, struct val *rec, const char *stage,
              enum err_code code, const char *note)
{
    const struct schema_kind *k = schema_find(rec_kind(rec));
    const char *state = err_code_state(code);
    char id[ID_HEX + 1];

    if (!drop_misfits(a, rec, k) || !rec_id(rec).p) {
        schema_id(id, rec);
        val_set(a, rec, "id", val_strz(a, id));
    }
    rec_why(a, rec, stage, code);
    if (strcmp(state, "ok") != 0) {
        val_set(a, rec, "state", val_strz(a, state));
        for (size_t i = 0; k && i < k->n_fields; i++) {
            if (k->fields[i].flags & F_BULK)
                val_del(rec, k->fields[i].name);
        }
    }
    if (note && *note)
        val_set(a, rec, "note", val_text(a, span_str(note)));
}

int schema_check(struct arena *a, struct val *rec, struct err *e)
{
    struct span kind = rec_kind(rec), state = val_gets(rec, "state");
    const struct schema_kind *k = schema_find(kind);
    char name[40];

    mask_text(name, sizeof(name), kind);
    if (!span_is(state, "ok") && !span_is(state, "rejected") &&
        !span_is(state, "failed"))
        return err_set(e, ERR_SCHEMA, "%s without a valid state", name);
    if (val_get(rec, "why") && val_get(rec, "why")->type != VAL_LIST)
        return err_set(e, ERR_SCHEMA, "%s: 'why' is not a list", name);
    for (size_t i = 0; k && i < k->n_fields; i++) {
        const struct schema_field *f = k->fields + i;
        struct val *v = val_get(rec, f->name);

        if (!v || v->type == VAL_NIL) {
            if ((f->flags & F_NEED) && rec_ok(rec))
                return err_set(e, ERR_SCHEMA, "%s without '%s'", name, f->name);
            continue;
        }
        if (!fits(a, rec, f->name, v, f->type))
            return err_set(e, ERR_SCHEMA, "%s: '%s' has the wrong type", name,
                           f->name);
    }
    return 0;
}
