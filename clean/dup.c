/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/dup.h"

unsigned char *dup_signature(const struct tokens *t, const struct pydef *entry,
                             const struct minhash *h, struct arena *a)
{
    size_t from = tokens_from(t, entry->def_start);
    size_t to = tokens_from(t, entry->end), n = 0;
    struct grams grams = {0}, part = {0};
    uint64_t *texts = tokens_plain(t);
    unsigned char *out = NULL;

    tokens_grams(texts, 0, t->seq.n, h->shingle, &grams);
    tokens_grams(texts, from, to, h->shingle, &part);
    for (size_t i = from; i < to; i++)
        n += texts[i] != 0;
    if (grams.n > 0 && n >= DUP_MIN_TOKENS) {
        out = arena_alloc(a, minhash_size(h));
        minhash_sign(h, grams.v, grams.n, part.v, part.n, out);
    }
    array_release(&grams);
    array_release(&part);
    free(texts);
    return out;
}

static int rank_of(struct span id)
{
    static const struct {
        int rank;
        const char *id;
    } list[] = {
#define LICENCE(rank, id) {rank, id},
#include "clean/licence.def"
    };

    for (size_t i = 0; i < ARRAY_LEN(list); i++)
        if (span_is(id, list[i].id))
            return list[i].rank;
    return DUP_RANKS - 1;
}

/* Of an SPDX expression: AND takes the stricter, OR the better one; brackets
 * are not looked at. */
static int rank_of_expression(struct span s)
{
    int worst = -1, best = -1;

    for (size_t i = 0; i <= s.n;) {
        size_t end = i;
        struct span word;

        while (end < s.n && !memchr(" ()", s.p[end], 3))
            end++;
        word = (struct span){s.p + i, end - i};
        i = end + 1;
        if (span_is(word, "OR")) {
            if (worst >= 0 && (best < 0 || worst < best))
                best = worst;
            worst = -1;
        } else if (word.n > 0 && !span_is(word, "AND")) {
            int rank = rank_of(word);

            worst = MAX(worst, rank);
        }
    }
    if (best < 0 || (worst >= 0 && worst < best))
        best = worst;
    return best < 0 ? DUP_RANKS - 1 : best;
}

int dup_licence_rank(const struct val *rec)
{
    const struct val *parts = val_get(rec, "inlined");
    int rank = rank_of_expression(val_gets(val_get(rec, "licence"), "spdx"));

    for (size_t i = 0; i < val_len(parts); i++) {
        int part = rank_of_expression(val_gets(val_at(parts, i), "licence"));

        rank = MAX(rank, part);
    }
    return rank;
}
