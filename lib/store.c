/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <sqlite3.h>

#include "io.h"
#include "mem.h"
#include "store.h"

#define STORE_VERSION 1
#define BUSY_MS       60000

struct store {
    sqlite3 *db;
    sqlite3_stmt *get, *put, *drop;
    char *path;
};

static int fail(struct store *s, struct err *e, const char *what)
{
    return err_set(e, ERR_SYS, "store '%s': cannot %s: %s", s->path, what,
                   s->db ? sqlite3_errmsg(s->db) : "no memory");
}

static int check_version(struct store *s, struct err *e)
{
    sqlite3_stmt *q;
    int v = -1;

    if (sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &q, NULL) !=
        SQLITE_OK)
        return fail(s, e, "read");
    if (sqlite3_step(q) == SQLITE_ROW)
        v = sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    if (v != STORE_VERSION) {
        err_set(e, ERR_VERSION, "store '%s' has version %d, not %d", s->path, v,
                STORE_VERSION);
        return err_hint(e, "move it away: it only saves repeated work");
    }
    return 0;
}

/* Two processes that switch a new file to WAL at once: SQLite tells one of
 * them that it is busy without waiting as busy_timeout says. */
static int use_wal(sqlite3 *db)
{
    int rc = SQLITE_BUSY;

    for (int ms = 0; rc == SQLITE_BUSY && ms < BUSY_MS; ms += 10) {
        if (ms > 0)
            usleep(10 * 1000);
        rc = sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    }
    return rc;
}

static int prepare(struct store *s, struct err *e)
{
    static const char init[] =
        "PRAGMA synchronous=NORMAL;"
        "BEGIN IMMEDIATE;"
        "CREATE TABLE IF NOT EXISTS result("
        " kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,"
        " PRIMARY KEY(kind, key)) WITHOUT ROWID;";
    static const char fresh[] =
        "SELECT 1 FROM pragma_user_version WHERE user_version=0";
    sqlite3_stmt *q;
    bool is_new;

    sqlite3_busy_timeout(s->db, BUSY_MS);
    if (use_wal(s->db) != SQLITE_OK)
        return fail(s, e, "prepare");
    if (sqlite3_exec(s->db, init, NULL, NULL, NULL) != SQLITE_OK)
        return fail(s, e, "prepare");
    if (sqlite3_prepare_v2(s->db, fresh, -1, &q, NULL) != SQLITE_OK)
        return fail(s, e, "read");
    is_new = sqlite3_step(q) == SQLITE_ROW;
    sqlite3_finalize(q);
    if (is_new)
        sqlite3_exec(s->db, "PRAGMA user_version=1", NULL, NULL, NULL);
    if (sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        return fail(s, e, "prepare");
    if (check_version(s, e) < 0)
        return -1;
    if (sqlite3_prepare_v2(s->db,
                           "SELECT value FROM result WHERE kind=? AND key=?",
                           -1, &s->get, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(s->db, "INSERT OR IGNORE INTO result VALUES(?,?,?)",
                           -1, &s->put, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(s->db, "DELETE FROM result WHERE kind=? AND key=?",
                           -1, &s->drop, NULL) != SQLITE_OK)
        return fail(s, e, "prepare");
    return 0;
}

int store_open(struct store **out, const char *path, const char *name,
               struct err *e)
{
    struct store *s = xcalloc(1, sizeof(*s));

    if (path) {
        s->path = xstrdup(path);
    } else {
        char *dir = io_cache_dir(NULL, e);
        if (!dir) {
            free(s);
            return -1;
        }
        s->path = xasprintf("%s/%s.sqlite", dir, name);
        free(dir);
    }
    if (sqlite3_open_v2(s->path, &s->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        NULL) != SQLITE_OK) {
        fail(s, e, "open");
        store_close(s);
        return -1;
    }
    if (prepare(s, e) < 0) {
        store_close(s);
        return -1;
    }
    *out = s;
    return 0;
}

int store_get(struct store *s, const char *kind, const char *key,
              struct buf *out, struct err *e)
{
    int rc, step;

    sqlite3_bind_text(s->get, 1, kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(s->get, 2, key, -1, SQLITE_STATIC);
    step = sqlite3_step(s->get);
    if (step == SQLITE_ROW) {
        int n = sqlite3_column_bytes(s->get, 0);
        const void *p = sqlite3_column_blob(s->get, 0);
        rc = buf_add(out, p, (size_t)n) < 0
                 ? err_set(e, ERR_TOO_LARGE, "store '%s': value too large",
                           s->path)
                 : 1;
    } else {
        rc = step == SQLITE_DONE ? 0 : fail(s, e, "read");
    }
    sqlite3_reset(s->get);
    return rc;
}

int store_put(struct store *s, const char *kind, const char *key,
              struct span value, struct err *e)
{
    int rc = 0;

    if (value.n > INT_MAX)
        return err_set(e, ERR_TOO_LARGE, "value too large for the store");
    sqlite3_bind_text(s->put, 1, kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(s->put, 2, key, -1, SQLITE_STATIC);
    sqlite3_bind_blob(s->put, 3, value.p, (int)value.n, SQLITE_STATIC);
    if (sqlite3_step(s->put) != SQLITE_DONE)
        rc = fail(s, e, "write");
    sqlite3_reset(s->put);
    return rc;
}

int store_drop(struct store *s, const char *kind, const char *key,
               struct err *e)
{
    int rc = 0;

    sqlite3_bind_text(s->drop, 1, kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(s->drop, 2, key, -1, SQLITE_STATIC);
    if (sqlite3_step(s->drop) != SQLITE_DONE)
        rc = fail(s, e, "write");
    sqlite3_reset(s->drop);
    return rc;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    sqlite3_finalize(s->get);
    sqlite3_finalize(s->put);
    sqlite3_finalize(s->drop);
    sqlite3_close(s->db);
    free(s->path);
    free(s);
}
