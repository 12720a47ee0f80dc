/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include "hash.h"
#include "log.h"
#include "mem.h"

struct sha256 {
    EVP_MD_CTX *ctx;
};

struct sha256 *sha256_new(void)
{
    struct sha256 *h = xmalloc(sizeof(*h));

    h->ctx = EVP_MD_CTX_new();
    if (!h->ctx || EVP_DigestInit_ex(h->ctx, EVP_sha256(), NULL) != 1)
        bug("libcrypto has no SHA-256");
    return h;
}

void sha256_add(struct sha256 *h, const void *p, size_t n)
{
    if (n && EVP_DigestUpdate(h->ctx, p, n) != 1)
        bug("SHA-256 failed");
}

void sha256_add_field(struct sha256 *h, struct span s)
{
    unsigned char len[8];

    for (int i = 0; i < 8; i++)
        len[i] = (unsigned char)((uint64_t)s.n >> (8 * i));
    sha256_add(h, len, sizeof(len));
    sha256_add(h, s.p, s.n);
}

void hex_encode(char *out, const void *p, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *raw = p;

    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[raw[i] >> 4];
        out[2 * i + 1] = digits[raw[i] & 15];
    }
    out[2 * n] = '\0';
}

void sha256_hex(struct sha256 *h, char out[HASH_HEX + 1])
{
    unsigned char raw[EVP_MAX_MD_SIZE];

    if (EVP_DigestFinal_ex(h->ctx, raw, NULL) != 1)
        bug("SHA-256 failed");
    hex_encode(out, raw, HASH_HEX / 2);
}

void sha256_free(struct sha256 *h)
{
    if (!h)
        return;
    EVP_MD_CTX_free(h->ctx);
    free(h);
}

void hash_sha256_hex(char out[HASH_HEX + 1], struct span s)
{
    struct sha256 *h = sha256_new();

    sha256_add(h, s.p, s.n);
    sha256_hex(h, out);
    sha256_free(h);
}

uint64_t hash_fast(struct span s, uint64_t seed)
{
    return XXH3_64bits_withSeed(s.p, s.n, seed);
}
