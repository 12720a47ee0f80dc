/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <sqlite3.h>

#include "clean/cluster.h"
#include "hash.h"
#include "mem.h"

/* Goes up when digests or signatures change. */
#define INDEX_VERSION 2
#define INDEX_MAGIC   0x6b6d6475 /* "kmdu", SQLite's application_id */
/* Another run may be judging: that takes minutes for millions. */
#define BUSY_MS 600000
#define ID_RAW  (ID_HEX / 2)
#define KEY_RAW 16 /* bytes of a digest that are kept */
/* Representatives that are looked at for one member. */
#define MAX_CANDIDATES 512

/* A row of the index. */
#define OWNER "digest, id, cluster, original, similarity, sign, sum"

enum query {
    Q_ADD,
    Q_ORDER,
    Q_MEMBER,
    Q_OUTCOME,
    Q_NEXT,
    Q_OWNER,
    Q_OWN,
    Q_BAND,
    Q_BAND_ADD,
    Q_SIGNATURE,
    Q_COUNT
};

static const char *const queries[Q_COUNT] = {
    [Q_ADD] = "INSERT INTO temp.member VALUES(?,?,?,?,?)",
    [Q_ORDER] = "SELECT seq FROM temp.member ORDER BY rank, id, seq",
    [Q_MEMBER] = "SELECT id, digest, sign FROM temp.member WHERE seq=?",
    [Q_OUTCOME] = "INSERT INTO temp.outcome VALUES(?,?,?,?,?)",
    [Q_NEXT] = "SELECT kind, cluster, original, similarity FROM temp.outcome "
               "ORDER BY seq",
    [Q_OWNER] = "SELECT " OWNER " FROM main.owner WHERE digest=?",
    [Q_OWN] = "INSERT INTO main.owner VALUES(NULL,?,?,?,?,?,?,?)",
    [Q_BAND] = "SELECT num FROM main.band WHERE key=?",
    [Q_BAND_ADD] = "INSERT OR IGNORE INTO main.band VALUES(?,?)",
    [Q_SIGNATURE] = "SELECT " OWNER " FROM main.owner WHERE num=?",
};

struct member {
    int64_t seq;
    unsigned char id[ID_RAW], digest[KEY_RAW];
    unsigned char sign[10 * MINHASH_MAX];
    bool has_sign;
};

struct verdict {
    enum cluster_kind kind;
    unsigned char cluster[ID_RAW], original[ID_RAW];
    double similarity;
};

/* A module of the index. */
struct owner {
    unsigned char digest[KEY_RAW], id[ID_RAW], cluster[ID_RAW];
    unsigned char original[ID_RAW]; /* of a near-duplicate, else zero */
    double similarity;
    unsigned char sign[10 * MINHASH_MAX];
    bool near, has_sign;
};

struct cluster {
    const struct minhash *h;
    sqlite3 *db;
    sqlite3_stmt *q[Q_COUNT];
    const char *name;
    int64_t n;
    size_t sign_bytes;
    struct member member; /* the one being judged */
    struct owner owner;   /* the one read or written last */
    int64_t candidates[MAX_CANDIDATES];
};

static int damaged(struct cluster *c, struct err *e)
{
    err_set(e, ERR_CORRUPT, "index '%s' is damaged", c->name);
    return err_hint(e,
                    "take a copy of it, or delete it: a run over all modules "
                    "makes a new one");
}

static int fail(struct cluster *c, struct err *e, const char *what)
{
    if (c->db && sqlite3_errcode(c->db) == SQLITE_CORRUPT)
        return damaged(c, e);
    return err_set(e, ERR_SYS, "index '%s': cannot %s: %s", c->name, what,
                   c->db ? sqlite3_errmsg(c->db) : "no memory");
}

static int run(struct cluster *c, const char *sql, const char *what,
               struct err *e)
{
    return sqlite3_exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : fail(c, e, what);
}

/* The one number that SQL answers. */
static int ask(struct cluster *c, const char *sql, int64_t *out, struct err *e)
{
    sqlite3_stmt *q;
    int rc;

    if (sqlite3_prepare_v2(c->db, sql, -1, &q, NULL) != SQLITE_OK)
        return fail(c, e, "read");
    rc = sqlite3_step(q);
    *out = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_finalize(q);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : fail(c, e, "read");
}

/* ---- opening ---- */

/* Is the structure of the file whole? 10 s for a million modules. */
static int check_pages(struct cluster *c, struct err *e)
{
    sqlite3_stmt *q;
    bool whole = false;

    if (sqlite3_prepare_v2(c->db, "PRAGMA main.quick_check(1)", -1, &q, NULL) !=
        SQLITE_OK)
        return fail(c, e, "read");
    if (sqlite3_step(q) == SQLITE_ROW) {
        const char *said = (const char *)sqlite3_column_text(q, 0);

        whole = said && strcmp(said, "ok") == 0;
    }
    sqlite3_finalize(q);
    return whole ? 0 : damaged(c, e);
}

static int check_index(struct cluster *c, struct err *e)
{
    int64_t magic, version, like;
    char *sql;
    int rc;

    if (ask(c, "PRAGMA main.application_id", &magic, e) ||
        ask(c, "PRAGMA main.user_version", &version, e))
        return -1;
    if (magic != INDEX_MAGIC)
        return err_set(e, ERR_VERSION, "'%s' is no index of km-clean", c->name);
    if (version != INDEX_VERSION) {
        err_set(e, ERR_VERSION, "index '%s' has version %" PRId64 ", not %d",
                c->name, version, INDEX_VERSION);
        return err_hint(e, "make a new one");
    }
    sql = xasprintf("SELECT count(*) FROM main.parameter WHERE shingle=%u AND "
                    "permutations=%u AND similarity=%d",
                    c->h->shingle, c->h->permutations,
                    (int)(c->h->similarity * 10000 + 0.5));
    rc = ask(c, sql, &like, e);
    free(sql);
    if (rc != 0)
        return -1;
    if (like != 1) {
        err_set(e, ERR_VERSION,
                "index '%s' was made with another --shingle, --permutations or "
                "--similarity",
                c->name);
        return err_hint(e, "give the same ones, or another index");
    }
    return check_pages(c, e);
}

static int make_index(struct cluster *c, struct err *e)
{
    static const char tables[] =
        "CREATE TABLE parameter(shingle, permutations, similarity);"
        "CREATE TABLE owner(num INTEGER PRIMARY KEY, digest BLOB NOT NULL "
        "UNIQUE, id BLOB NOT NULL, cluster BLOB NOT NULL, original BLOB,"
        " similarity REAL, sign BLOB, sum INTEGER NOT NULL);"
        "CREATE TABLE band(key INTEGER NOT NULL, num INTEGER NOT NULL,"
        " PRIMARY KEY(key, num)) WITHOUT ROWID;";
    char *set =
        xasprintf("PRAGMA main.application_id=%d; PRAGMA main.user_version=%d;"
                  "INSERT INTO parameter VALUES(%u,%u,%d);",
                  INDEX_MAGIC, INDEX_VERSION, c->h->shingle, c->h->permutations,
                  (int)(c->h->similarity * 10000 + 0.5));
    int rc = run(c, tables, "make", e) || run(c, set, "make", e) ? -1 : 0;

    free(set);
    return rc;
}

static int prepare(struct cluster *c, struct err *e)
{
    int64_t tables;

    sqlite3_busy_timeout(c->db, BUSY_MS);
    if (run(c,
            "PRAGMA temp_store=FILE; PRAGMA main.cache_size=-196608;"
            "PRAGMA temp.cache_size=-32768; PRAGMA temp.journal_mode=OFF;"
            "BEGIN IMMEDIATE",
            "open", e) ||
        ask(c, "SELECT count(*) FROM main.sqlite_master", &tables, e) ||
        (tables == 0 && make_index(c, e)) || run(c, "COMMIT", "write", e) ||
        check_index(c, e))
        return -1;
    /* One transaction of the temporary tables alone: it takes no lock of the
     * index while the modules are being cleaned. */
    if (run(c,
            "CREATE TEMP TABLE member(seq INTEGER PRIMARY KEY, rank INTEGER,"
            " id BLOB, digest BLOB, sign BLOB);"
            "CREATE TEMP TABLE outcome(seq INTEGER PRIMARY KEY, kind INTEGER,"
            " cluster BLOB, original BLOB, similarity REAL); BEGIN",
            "make temporary tables", e))
        return -1;
    for (int i = 0; i < Q_COUNT; i++)
        if (sqlite3_prepare_v2(c->db, queries[i], -1, &c->q[i], NULL) !=
            SQLITE_OK)
            return fail(c, e, "prepare");
    return 0;
}

int cluster_open(struct cluster **out, const char *index,
                 const struct minhash *h, struct err *e)
{
    struct cluster *c = xcalloc(1, sizeof(*c));

    c->h = h;
    c->name = index ? index : "temporary";
    c->sign_bytes = minhash_size(h);
    if (sqlite3_open_v2(index ? index : "", &c->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        NULL) != SQLITE_OK)
        fail(c, e, "open");
    else if (prepare(c, e) == 0) {
        *out = c;
        return 0;
    }
    cluster_close(c);
    return -1;
}

void cluster_close(struct cluster *c)
{
    if (!c)
        return;
    for (int i = 0; i < Q_COUNT; i++)
        sqlite3_finalize(c->q[i]);
    sqlite3_close(c->db);
    free(c);
}

/* ---- rows ---- */

static void put_blob(sqlite3_stmt *q, int at, const void *p, size_t n)
{
    sqlite3_bind_blob(q, at, p, (int)n, SQLITE_STATIC);
}

/* N bytes of column AT into OUT; false when it holds another number. */
static bool get_blob(sqlite3_stmt *q, int at, void *out, size_t n)
{
    const void *p = sqlite3_column_blob(q, at);

    if (!p || (size_t)sqlite3_column_bytes(q, at) != n)
        return false;
    memcpy(out, p, n);
    return true;
}

static int done(struct cluster *c, enum query i, struct err *e)
{
    int rc = sqlite3_step(c->q[i]) == SQLITE_DONE ? 0 : fail(c, e, "write");

    sqlite3_reset(c->q[i]);
    return rc;
}

/* Query I gave something that is not as it was written. */
static int bad_row(struct cluster *c, enum query i, struct err *e)
{
    sqlite3_reset(c->q[i]);
    return damaged(c, e);
}

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

static bool from_hex(unsigned char *out, struct span hex, size_t n)
{
    if (hex.n < 2 * n)
        return false;
    for (size_t i = 0; i < 2 * n; i++)
        if (!memchr("0123456789abcdef", hex.p[i], 16))
            return false;
    for (size_t i = 0; i < n; i++)
        out[i] =
            (unsigned char)(digit(hex.p[2 * i]) << 4 | digit(hex.p[2 * i + 1]));
    return true;
}

int cluster_add(struct cluster *c, int rank, struct span id, struct span digest,
                const unsigned char *signature, struct err *e)
{
    sqlite3_stmt *q = c->q[Q_ADD];
    unsigned char raw_id[ID_RAW], key[KEY_RAW];

    if (!from_hex(raw_id, id, ID_RAW) || !from_hex(key, digest, KEY_RAW))
        return err_set(e, ERR_INTERNAL, "no hexadecimal id or digest");
    sqlite3_bind_int64(q, 1, c->n++);
    sqlite3_bind_int(q, 2, rank);
    put_blob(q, 3, raw_id, ID_RAW);
    put_blob(q, 4, key, KEY_RAW);
    if (signature)
        put_blob(q, 5, signature, c->sign_bytes);
    else
        sqlite3_bind_null(q, 5);
    return done(c, Q_ADD, e);
}

static int read_member(struct cluster *c, int64_t seq, struct err *e)
{
    sqlite3_stmt *q = c->q[Q_MEMBER];
    struct member *m = &c->member;

    sqlite3_bind_int64(q, 1, seq);
    if (sqlite3_step(q) != SQLITE_ROW || !get_blob(q, 0, m->id, ID_RAW) ||
        !get_blob(q, 1, m->digest, KEY_RAW))
        return bad_row(c, Q_MEMBER, e);
    m->seq = seq;
    m->has_sign = get_blob(q, 2, m->sign, c->sign_bytes);
    sqlite3_reset(q);
    return 0;
}

/* The number that tells a row that was changed. */
static int64_t owner_sum(const struct cluster *c, const struct owner *o)
{
    uint64_t sum = o->has_sign ? 1 : 0;
    struct span parts[] = {
        {(const char *)o->digest, KEY_RAW},
        {(const char *)o->id, ID_RAW},
        {(const char *)o->cluster, ID_RAW},
        {(const char *)o->original, ID_RAW},
        {(const char *)&o->similarity, sizeof(o->similarity)},
        {(const char *)o->sign, o->has_sign ? c->sign_bytes : 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        sum = hash_fast(parts[i], sum);
    return (int64_t)sum;
}

/* The row of query I, which asks for OWNER. 0 or -1. */
static int read_owner(struct cluster *c, enum query i, struct owner *o,
                      struct err *e)
{
    sqlite3_stmt *q = c->q[i];

    memset(o->original, 0, ID_RAW);
    if (!get_blob(q, 0, o->digest, KEY_RAW) || !get_blob(q, 1, o->id, ID_RAW) ||
        !get_blob(q, 2, o->cluster, ID_RAW))
        return bad_row(c, i, e);
    o->near = get_blob(q, 3, o->original, ID_RAW);
    o->similarity = sqlite3_column_double(q, 4);
    o->has_sign = get_blob(q, 5, o->sign, c->sign_bytes);
    if (sqlite3_column_int64(q, 6) != owner_sum(c, o))
        return bad_row(c, i, e);
    sqlite3_reset(q);
    return 0;
}

/* ---- judging ---- */

/* Is there a module with this digest? 1 with V filled, 0, -1. */
static int find_same(struct cluster *c, struct verdict *v, struct err *e)
{
    sqlite3_stmt *q = c->q[Q_OWNER];
    struct owner *o = &c->owner;
    int rc;

    put_blob(q, 1, c->member.digest, KEY_RAW);
    rc = sqlite3_step(q);
    if (rc == SQLITE_DONE) {
        sqlite3_reset(q);
        return 0;
    }
    if (rc != SQLITE_ROW)
        return bad_row(c, Q_OWNER, e);
    if (read_owner(c, Q_OWNER, o, e))
        return -1;
    memcpy(v->cluster, o->cluster, ID_RAW);
    if (memcmp(o->id, c->member.id, ID_RAW) != 0) {
        v->kind = CLUSTER_SAME;
        memcpy(v->original, o->id, ID_RAW);
    } else if (o->near) {
        v->kind = CLUSTER_NEAR; /* judged before: itself */
        v->similarity = o->similarity;
        memcpy(v->original, o->original, ID_RAW);
    } else {
        v->kind = CLUSTER_FIRST;
    }
    return 1;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Representatives that share a band with the member, each once, oldest first.
 * Number of them, or -1. */
static int find_candidates(struct cluster *c, struct err *e)
{
    sqlite3_stmt *q = c->q[Q_BAND];
    int n = 0, kept = 0;

    for (unsigned b = 0; b < c->h->bands; b++) {
        int rc;

        sqlite3_bind_int64(q, 1, (int64_t)minhash_band(c->member.sign, b));
        while ((rc = sqlite3_step(q)) == SQLITE_ROW && n < MAX_CANDIDATES)
            c->candidates[n++] = sqlite3_column_int64(q, 0);
        sqlite3_reset(q);
        if (rc != SQLITE_ROW && rc != SQLITE_DONE)
            return fail(c, e, "read");
    }
    qsort(c->candidates, (size_t)n, sizeof(*c->candidates), by_number);
    for (int i = 0; i < n; i++)
        if (i == 0 || c->candidates[i] != c->candidates[kept - 1])
            c->candidates[kept++] = c->candidates[i];
    return kept;
}

/* The most similar representative, the oldest among equal ones. */
static int find_near(struct cluster *c, struct verdict *v, struct err *e)
{
    sqlite3_stmt *q = c->q[Q_SIGNATURE];
    int n = find_candidates(c, e);

    for (int i = 0; i < n; i++) {
        const struct owner *o = &c->owner;
        double s;

        sqlite3_bind_int64(q, 1, c->candidates[i]);
        if (sqlite3_step(q) != SQLITE_ROW)
            return bad_row(c, Q_SIGNATURE, e);
        if (read_owner(c, Q_SIGNATURE, &c->owner, e))
            return -1;
        if (!o->has_sign)
            return damaged(c, e);
        s = minhash_similarity(c->h, c->member.sign, o->sign);
        /* Another form of itself, from a run with other options, is none. */
        if (s >= c->h->similarity && s > v->similarity &&
            memcmp(o->id, c->member.id, ID_RAW) != 0) {
            v->kind = CLUSTER_NEAR;
            v->similarity = s;
            memcpy(v->cluster, o->id, ID_RAW);
            memcpy(v->original, o->id, ID_RAW);
        }
    }
    return n < 0 ? -1 : 0;
}

/* Put the member into the index, as the first one of its digest. */
static int own(struct cluster *c, const struct verdict *v, struct err *e)
{
    sqlite3_stmt *q = c->q[Q_OWN];
    const struct member *m = &c->member;
    bool first = v->kind == CLUSTER_FIRST;
    struct owner *o = &c->owner;
    int64_t num;

    o->near = !first;
    o->has_sign = first && m->has_sign;
    o->similarity = v->similarity;
    memcpy(o->digest, m->digest, KEY_RAW);
    memcpy(o->id, m->id, ID_RAW);
    memcpy(o->cluster, v->cluster, ID_RAW);
    memcpy(o->original, v->original, ID_RAW);
    memcpy(o->sign, m->sign, sizeof(o->sign));
    put_blob(q, 1, o->digest, KEY_RAW);
    put_blob(q, 2, o->id, ID_RAW);
    put_blob(q, 3, o->cluster, ID_RAW);
    if (o->near)
        put_blob(q, 4, o->original, ID_RAW);
    else
        sqlite3_bind_null(q, 4);
    sqlite3_bind_double(q, 5, o->similarity);
    if (o->has_sign)
        put_blob(q, 6, o->sign, c->sign_bytes);
    else
        sqlite3_bind_null(q, 6);
    sqlite3_bind_int64(q, 7, owner_sum(c, o));
    if (done(c, Q_OWN, e))
        return -1;
    num = sqlite3_last_insert_rowid(c->db);
    q = c->q[Q_BAND_ADD];
    for (unsigned b = 0; first && m->has_sign && b < c->h->bands; b++) {
        sqlite3_bind_int64(q, 1, (int64_t)minhash_band(m->sign, b));
        sqlite3_bind_int64(q, 2, num);
        if (done(c, Q_BAND_ADD, e))
            return -1;
    }
    return 0;
}

static int judge_one(struct cluster *c, int64_t seq, struct err *e)
{
    struct verdict v = {.kind = CLUSTER_FIRST};
    sqlite3_stmt *q = c->q[Q_OUTCOME];
    int known;

    if (read_member(c, seq, e))
        return -1;
    known = find_same(c, &v, e);
    if (known < 0)
        return -1;
    if (known == 0) {
        memcpy(v.cluster, c->member.id, ID_RAW);
        if ((c->member.has_sign && find_near(c, &v, e)) || own(c, &v, e))
            return -1;
    }
    sqlite3_bind_int64(q, 1, seq);
    sqlite3_bind_int(q, 2, (int)v.kind);
    put_blob(q, 3, v.cluster, ID_RAW);
    put_blob(q, 4, v.original, ID_RAW);
    sqlite3_bind_double(q, 5, v.similarity);
    return done(c, Q_OUTCOME, e);
}

int cluster_judge(struct cluster *c, struct err *e)
{
    int rc, step;

    if (run(c, "COMMIT; BEGIN IMMEDIATE", "begin", e))
        return -1;
    rc = 0;
    while (rc == 0 && (step = sqlite3_step(c->q[Q_ORDER])) != SQLITE_DONE)
        rc = step == SQLITE_ROW
                 ? judge_one(c, sqlite3_column_int64(c->q[Q_ORDER], 0), e)
                 : fail(c, e, "sort");
    sqlite3_reset(c->q[Q_ORDER]);
    if (rc) /* keeps E; closing rolls back in any case */
        return -1;
    return run(c, "COMMIT", "write", e);
}

int cluster_next(struct cluster *c, struct outcome *out, struct err *e)
{
    sqlite3_stmt *q = c->q[Q_NEXT];
    unsigned char cluster[ID_RAW], original[ID_RAW];

    if (sqlite3_step(q) != SQLITE_ROW || !get_blob(q, 1, cluster, ID_RAW) ||
        !get_blob(q, 2, original, ID_RAW))
        return bad_row(c, Q_NEXT, e);
    out->kind = (enum cluster_kind)sqlite3_column_int(q, 0);
    out->similarity = sqlite3_column_double(q, 3);
    hex_encode(out->cluster, cluster, ID_RAW);
    hex_encode(out->original, original, ID_RAW);
    return 0;
}
