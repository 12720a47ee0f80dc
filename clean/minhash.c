/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/minhash.h"

#include "hash.h"

#define FOUND 0.8 /* least chance to find a pair at the limit */

/* Without libm's pow: the same on every machine. */
static double power(double x, unsigned n)
{
    double y = 1;

    for (unsigned i = 0; i < n; i++)
        y *= x;
    return y;
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void minhash_init(struct minhash *h, unsigned shingle, unsigned permutations,
                  double similarity)
{
    uint64_t state = 1;

    h->shingle = MAX(shingle, 1u);
    h->permutations = MIN(MAX(permutations, 1u), (unsigned)MINHASH_MAX);
    h->similarity = similarity;
    h->rows = 1;
    for (unsigned rows = 2; rows <= h->permutations; rows++) {
        unsigned bands = h->permutations / rows;

        if (1 - power(1 - power(similarity, rows), bands) >= FOUND)
            h->rows = rows;
    }
    h->bands = h->permutations / h->rows;
    for (unsigned i = 0; i < MINHASH_MAX; i++) {
        uint64_t r = next_random(&state);

        h->mul[i] = (uint32_t)r | 1;
        h->add[i] = (uint32_t)(r >> 32);
    }
}

size_t minhash_size(const struct minhash *h)
{
    return 8 * (size_t)h->bands + 2 * (size_t)h->permutations;
}

/* The compiler turns the loop into vector code where the machine has it. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("avx2", "default"), optimize("O3")))
#endif
static void
lower(uint32_t *restrict min, const uint32_t *restrict mul,
      const uint32_t *restrict add, unsigned n, uint32_t x)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t y = x * mul[i] + add[i];

        min[i] = y < min[i] ? y : min[i];
    }
}

static void find_minima(const struct minhash *h, const uint32_t *v, size_t n,
                        uint32_t min[MINHASH_MAX])
{
    memset(min, 0xff, MINHASH_MAX * sizeof(*min));
    for (size_t i = 0; i < n; i++) {
        /* Spread first: a linear map alone keeps neighbours together. */
        uint32_t x = v[i];

        x = (x ^ (x >> 16)) * 0x85ebca6bu;
        x = (x ^ (x >> 13)) * 0xc2b2ae35u;
        lower(min, h->mul, h->add, h->permutations, x ^ (x >> 16));
    }
}

/* The top bits of a minimum are nearly always zero, and the low ones of a
 * product depend on few bits: take the bytes from a hash. */
static void pack(const struct minhash *h, const uint32_t *min,
                 unsigned char *out)
{
    for (unsigned i = 0; i < h->permutations; i++)
        out[i] = (unsigned char)((min[i] * 0x9e3779b1u) >> 24);
}

void minhash_sign(const struct minhash *h, const uint32_t *v, size_t n,
                  const uint32_t *part, size_t n_part, unsigned char *out)
{
    uint32_t min[MINHASH_MAX];
    unsigned char *bytes = out + 8 * (size_t)h->bands;

    find_minima(h, v, n, min);
    for (unsigned b = 0; b < h->bands; b++) {
        const uint32_t *row = min + (size_t)b * h->rows;
        uint64_t key = hash_fast(
            (struct span){(const char *)row, h->rows * sizeof(*row)}, b);

        for (unsigned i = 0; i < 8; i++)
            out[8 * b + i] = (unsigned char)(key >> (8 * i));
    }
    pack(h, min, bytes);
    find_minima(h, part, n_part, min);
    pack(h, min, bytes + h->permutations);
}

uint64_t minhash_band(const unsigned char *signature, unsigned i)
{
    uint64_t key = 0;

    for (unsigned k = 0; k < 8; k++)
        key |= (uint64_t)signature[8 * i + k] << (8 * k);
    return key;
}

static double estimate(const unsigned char *x, const unsigned char *y,
                       unsigned n)
{
    unsigned same = 0;
    double s;

    for (unsigned i = 0; i < n; i++)
        same += x[i] == y[i];
    /* One in 256 agrees by chance. */
    s = ((double)same / n - 1.0 / 256) / (1 - 1.0 / 256);
    return s > 0 ? s : 0;
}

double minhash_similarity(const struct minhash *h, const unsigned char *a,
                          const unsigned char *b)
{
    const unsigned char *x = a + 8 * (size_t)h->bands;
    const unsigned char *y = b + 8 * (size_t)h->bands;
    unsigned n = h->permutations;
    double whole = estimate(x, y, n), part = estimate(x + n, y + n, n);

    return MIN(whole, part);
}
