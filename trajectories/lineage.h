/* SPDX-License-Identifier: MIT */
/*
 * What the importers of all formats share. They put the programs of a run
 * here in the order written (a later version of a program replaces an
 * earlier one), then lineage_emit sorts them, tells copies and no-op replies
 * from steps, replays the replies and writes the revisions.
 */
#ifndef KM_LINEAGE_H
#define KM_LINEAGE_H

#include "array.h"
#include "stage.h"
#include "trajectories/spill.h"
#include "trajectories/taskset.h"

/* One version of one program. Texts lie in the lineage's arena. */
struct node {
    struct span run, program, parent; /* parent as recorded; p NULL: none */
    int64_t iteration;
    char code[ID_HEX + 1]; /* digest of the code, "" = there is none */
    bool prompted;         /* has a prompt or a reply */
    bool migrant;          /* the run says that it is a migrant */
    bool duplicate;        /* other program with the same code comes first */
    bool cycle;            /* its line of parents never ends */
    int mark;              /* of the walk that finds this out */
    enum err_code fail;    /* broken input, a superseded version */
    const char *note;
    struct spill_ref rec;
    struct node *same; /* node of which this one is a copy */
    struct node *parent_node;
};

struct lineage_stats {
    uint64_t programs, ok, noop, migrants, dangling, conflicts, broken,
        duplicates, exact, differs, absent, no_task;
};

struct lineage {
    struct arena arena;
    struct map index; /* run, NUL, program -> struct node (current version) */
    ARRAY(struct node *) nodes;
    struct spill spill;
    struct lineage_stats stats;
    uint64_t warned; /* broken programs so far */
    struct err dead; /* the temporary file failed: no output can be right */
};

int lineage_open(struct lineage *l, struct err *e) MUST_USE;
/*
 * Add one version. REC holds the fields of a revision as far as known:
 * `run`, `program`, `parent`, `iteration`, `language` as the run writes it,
 * `task` as id or name, `code`, `prompt`, `reply`, `recorded`, `flags` (list
 * of text), others. WHERE names file and place for messages. It is copied.
 */
int lineage_put(struct lineage *l, const struct val *rec, bool migrant,
                const char *where, struct err *e) MUST_USE;
/* A program that could not be read. NOTE says where and why. It becomes a
 * record of its own unless another version of the program is there. */
void lineage_broken(struct lineage *l, struct span run, struct span program,
                    enum err_code code, const char *note);
bool lineage_has(const struct lineage *l, struct span run, struct span program);

struct lineage_options {
    const struct taskset *tasks;
    const char *task;     /* for programs that name none, or NULL */
    const char *language; /* overrides, or NULL */
};

/* Write all revisions, by run, iteration and program id. 0, or -2. */
int lineage_emit(struct lineage *l, const struct lineage_options *o,
                 struct emit *out, struct err *e) MUST_USE;
void lineage_close(struct lineage *l);

/* Importers: read all of a run into L. PATH as the user gave it, RUN its
 * name. -1: nothing could be read (E says why), the caller reports it. */
int import_openevolve(struct lineage *l, const char *path, struct span run,
                      const char *score_key, struct err *e) MUST_USE;
int import_jsonl(struct lineage *l, const char *path, struct span run,
                 struct err *e) MUST_USE;

/* One program file of OpenEvolve or SkyDiscover (their JSON text) as a record
 * for lineage_put; *MIGRANT as the file says. STEM is the file's name without
 * ".json", the id when the file holds none. */
int import_program(struct arena *a, struct span json, struct span stem,
                   const char *score_key, struct val **out, bool *migrant,
                   struct err *e) MUST_USE;
/* {score, score_key, correct, metrics} from a map of metrics. */
struct val *import_metrics(struct arena *a, const struct val *metrics,
                           const char *score_key, struct val *flags);
/* One message. */
struct val *import_message(struct arena *a, const char *role,
                           struct span content);

#define IMPORT_MAX_PROGRAM (14u << 20) /* bytes of one program's JSON */
#define IMPORT_MAX_ID      256u        /* bytes of a program's or run's id */

#endif
