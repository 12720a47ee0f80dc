/* SPDX-License-Identifier: MIT */
/*
 * Clusters of synthetic modules: cluster MODULES INDEX. One in twenty repeats
 * an earlier one, one in ten is like an earlier one (190 of 210 grams shared,
 * Jaccard index 0.9), the others are of 200 random grams.
 */
#include "base.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "clean/cluster.h"
#include "log.h"
#include "mem.h"

#define GRAMS  200
#define OTHERS 10 /* grams that a near one has of its own */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t pair[2] = {a, b};

    return hash_fast((struct span){(const char *)pair, sizeof(pair)}, 0);
}

/* Module that I is made after: itself, or an earlier one. */
static uint64_t model_of(uint64_t i, bool *same)
{
    uint64_t kind = mix(i, 1) % 100;

    *same = i > 0 && kind < 5;
    return i > 0 && kind < 15 ? mix(i, 2) % i : i;
}

static int add(struct cluster *c, const struct minhash *h, uint64_t i,
               unsigned char *sign, struct err *e)
{
    uint32_t grams[GRAMS];
    char id[HASH_HEX + 1], digest[HASH_HEX + 1];
    bool same;
    uint64_t model = model_of(i, &same), text = same ? model : i;

    for (uint64_t g = 0; g < GRAMS; g++)
        grams[g] =
            (uint32_t)mix(g < OTHERS && !same ? mix(i, 3) : model, g + 10);
    minhash_sign(h, grams, GRAMS, grams, GRAMS, sign);
    snprintf(id, sizeof(id), "%016" PRIx64 "%048d", mix(i, 4), 0);
    snprintf(digest, sizeof(digest), "%016" PRIx64 "%048d", mix(text, 5), 0);
    return cluster_add(c, (int)(mix(i, 6) % 7), span_str(id), span_str(digest),
                       sign, e);
}

static int count(struct cluster *c, uint64_t n, uint64_t counts[3],
                 struct err *e)
{
    for (uint64_t i = 0; i < n; i++) {
        struct outcome o;

        if (cluster_next(c, &o, e))
            return -1;
        counts[o.kind]++;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct minhash h;
    uint64_t n = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t counts[3] = {0};
    struct cluster *c = NULL;
    struct rusage use;
    struct stat st;
    unsigned char *sign;
    double start = now(), added, judged;
    struct err e;

    log_program = "cluster";
    if (n == 0)
        die_usage("give a number of modules and an index");
    minhash_init(&h, 5, 256, 0.7);
    sign = xcalloc(1, minhash_size(&h));
    if (cluster_open(&c, argv[2], &h, &e))
        die_err(&e);
    for (uint64_t i = 0; i < n; i++)
        if (add(c, &h, i, sign, &e))
            die_err(&e);
    added = now();
    if (cluster_judge(c, &e))
        die_err(&e);
    judged = now();
    if (count(c, n, counts, &e))
        die_err(&e);
    cluster_close(c);
    free(sign);
    getrusage(RUSAGE_SELF, &use);
    if (stat(argv[2], &st) != 0)
        st.st_size = 0;
    printf("%" PRIu64 " modules: signed in %.0f s, judged in %.0f s, %" PRIu64
           " first, %" PRIu64 " same, %" PRIu64 " near, peak memory %ld MB, "
           "index %lld MB\n",
           n, added - start, judged - added, counts[CLUSTER_FIRST],
           counts[CLUSTER_SAME], counts[CLUSTER_NEAR], use.ru_maxrss / 1024,
           (long long)(st.st_size / 1000000));
    return EXIT_DONE;
}
