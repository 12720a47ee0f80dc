/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <getopt.h>

#include "log.h"
#include "opt.h"
#include "val.h"

#define MAX_OPTS 80

/* Codes of long options without a letter; a letter is its own code. */
enum { CODE_FIRST = 1000, CODE_NEGATED = 2000 };

static const struct opt opt_builtin[] = {
    {OPT_GROUP, 0, "General", NULL, NULL, NULL, 0, 0, false},
    {OPT_FLAG, 'h', "help", NULL, NULL, "print this help and exit", 0, 0,
     false},
    {OPT_FLAG, 'V', "version", NULL, NULL, "print the version and exit", 0, 0,
     false},
    {0},
};

struct flat {
    const struct opt *v[MAX_OPTS];
    size_t n;
};

static void add_table(struct flat *f, const struct opt *t)
{
    for (; t && t->name; t++) {
        if (f->n == MAX_OPTS)
            bug("too many options");
        f->v[f->n++] = t;
    }
}

static void flatten(struct flat *f, const struct opt_spec *spec)
{
    f->n = 0;
    for (size_t i = 0; i < ARRAY_LEN(spec->tables) && spec->tables[i]; i++)
        add_table(f, spec->tables[i]);
    add_table(f, opt_builtin);
}

static bool takes_value(const struct opt *o)
{
    return o->type != OPT_FLAG && o->type != OPT_COUNT;
}

void opt_help(const struct opt_spec *spec, FILE *out)
{
    struct flat f;

    flatten(&f, spec);
    fprintf(out, "usage: %s %s\n\n%s\n", spec->program, spec->synopsis,
            spec->about);
    for (size_t i = 0; i < f.n; i++) {
        const struct opt *o = f.v[i];
        char left[80];
        int n;

        if (o->type == OPT_GROUP) {
            fprintf(out, "\n%s:\n", o->name);
            continue;
        }
        n = snprintf(left, sizeof(left), "  %c%c%c --%s%s%s",
                     o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                     o->letter ? ',' : ' ', o->name, takes_value(o) ? " " : "",
                     takes_value(o) ? (o->arg ? o->arg : "VALUE") : "");
        if (n > 29)
            fprintf(out, "%s\n%30s%s\n", left, "", o->about);
        else
            fprintf(out, "%-30s%s\n", left, o->about);
    }
    if (spec->epilogue)
        fprintf(out, "\n%s\n", spec->epilogue);
}

static void bad_value(const struct opt *o, const char *text, const char *want)
{
    die_usage("--%s: '%s' is not %s", o->name, text, want);
}

static void parse_int(const struct opt *o, const char *text, bool size)
{
    char *end;
    long long v;

    errno = 0;
    v = strtoll(text, &end, 10);
    if (size && *end && end != text) {
        const char *units = "KMG", *u = strchr(units, *end & ~0x20);
        long long mul = u ? 1LL << (10 * (u - units + 1)) : 0;
        if (!mul || __builtin_mul_overflow(v, mul, &v))
            bad_value(o, text, "a size such as 512M");
        end++;
    }
    if (errno || end == text || *end)
        bad_value(o, text, size ? "a size such as 512M" : "a whole number");
    if ((o->min != 0 || o->max != 0) &&
        ((double)v < o->min || (double)v > o->max))
        die_usage("--%s: %lld is not in %.0f to %.0f", o->name, v, o->min,
                  o->max);
    *(int64_t *)o->value = v;
}

static void parse_float(const struct opt *o, const char *text)
{
    char *end;
    double v;

    errno = 0;
    v = strtod(text, &end);
    if (errno || end == text || *end || v != v)
        bad_value(o, text, "a number");
    if ((o->min != 0 || o->max != 0) && (v < o->min || v > o->max))
        die_usage("--%s: %g is not in %g to %g", o->name, v, o->min, o->max);
    *(double *)o->value = v;
}

static void parse_choice(const struct opt *o, const char *text)
{
    const char *p = o->arg;
    size_t n = strlen(text);

    while (p) {
        const char *bar = strchr(p, '|');
        size_t len = bar ? (size_t)(bar - p) : strlen(p);
        if (len == n && memcmp(p, text, n) == 0) {
            *(const char **)o->value = text;
            return;
        }
        p = bar ? bar + 1 : NULL;
    }
    die_usage("--%s: '%s' is none of %s", o->name, text, o->arg);
}

static void apply(const struct opt *o, const char *text, bool negated)
{
    struct opt_list *list;

    switch (o->type) {
    case OPT_FLAG:
        *(bool *)o->value = !negated;
        break;
    case OPT_COUNT:
        ++*(int *)o->value;
        break;
    case OPT_INT:
    case OPT_SIZE:
        parse_int(o, text, o->type == OPT_SIZE);
        break;
    case OPT_FLOAT:
        parse_float(o, text);
        break;
    case OPT_STR:
        *(const char **)o->value = text;
        break;
    case OPT_CHOICE:
        parse_choice(o, text);
        break;
    case OPT_LIST:
        list = o->value;
        list->v = xreallocarray(list->v, list->n + 1, sizeof(*list->v));
        list->v[list->n++] = text;
        break;
    case OPT_GROUP:
        break;
    }
}

/* End of --help and --version. */
static NORETURN void exit_shown(void)
{
    if (fflush(stdout) != 0)
        die("'stdout': cannot write: %s", strerror(errno));
    exit(EXIT_DONE);
}

int opt_parse(const struct opt_spec *spec, int argc, char **argv)
{
    struct flat f;
    struct option longs[2 * MAX_OPTS + 1];
    char negated[MAX_OPTS][48], shorts[2 * MAX_OPTS + 2];
    size_t nl = 0, ns = 0;
    int c;

    log_program = spec->program;
    flatten(&f, spec);
    memset(longs, 0, sizeof(longs));
    shorts[ns++] = ':'; /* a missing argument is told apart */
    for (size_t i = 0; i < f.n; i++) {
        const struct opt *o = f.v[i];
        if (o->type == OPT_GROUP)
            continue;
        longs[nl++] = (struct option){
            o->name, takes_value(o) ? required_argument : no_argument, NULL,
            CODE_FIRST + (int)i};
        if (o->letter) {
            shorts[ns++] = o->letter;
            if (takes_value(o))
                shorts[ns++] = ':';
        }
        if (o->type == OPT_FLAG && o->value) {
            snprintf(negated[i], sizeof(negated[i]), "no-%s", o->name);
            longs[nl++] = (struct option){negated[i], no_argument, NULL,
                                          CODE_NEGATED + (int)i};
        }
    }
    shorts[ns] = '\0';
    opterr = 0;
    optind = 0; /* glibc: start afresh, also for a second call */
    while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const struct opt *o = NULL;
        bool neg = c >= CODE_NEGATED;

        if (c == ':')
            die_usage("option '%s' needs a value", argv[optind - 1]);
        if (c == '?')
            die_usage("unknown option '%s'", argv[optind - 1]);
        if (neg)
            o = f.v[c - CODE_NEGATED];
        else if (c >= CODE_FIRST)
            o = f.v[c - CODE_FIRST];
        for (size_t i = 0; !o && i < f.n; i++) {
            if (f.v[i]->letter == c)
                o = f.v[i];
        }
        if (o->name == opt_builtin[1].name) {
            opt_help(spec, stdout);
            exit_shown();
        }
        if (o->name == opt_builtin[2].name) {
            printf("%s %s\n", spec->program, KM_VERSION);
            exit_shown();
        }
        apply(o, optarg, neg);
    }
    return optind;
}

struct val *opt_record(struct arena *a, const struct opt_spec *spec)
{
    struct flat f;
    struct val *m = val_map(a);

    flatten(&f, spec);
    for (size_t i = 0; i < f.n; i++) {
        const struct opt *o = f.v[i];
        struct val *v = NULL;
        const struct opt_list *list;

        if (!o->output || !o->value)
            continue;
        switch (o->type) {
        case OPT_FLAG:
            v = val_bool(a, *(bool *)o->value);
            break;
        case OPT_COUNT:
            v = val_int(a, *(int *)o->value);
            break;
        case OPT_INT:
        case OPT_SIZE:
            v = val_int(a, *(int64_t *)o->value);
            break;
        case OPT_FLOAT:
            v = val_float(a, *(double *)o->value);
            break;
        case OPT_STR:
        case OPT_CHOICE:
            v = val_strz(a, *(const char **)o->value);
            break;
        case OPT_LIST:
            v = val_list(a);
            list = o->value;
            for (size_t k = 0; k < list->n; k++)
                val_push(a, v, val_strz(a, list->v[k]));
            break;
        case OPT_GROUP:
            break;
        }
        if (v)
            val_set(a, m, o->name, v);
    }
    return m;
}
