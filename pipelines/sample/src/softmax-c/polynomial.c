#include <math.h>
#include <string.h>

#include "km_candidate.h"

#define SCALE 4.0f

typedef float v8f __attribute__((vector_size(32)));
typedef int32_t v8i __attribute__((vector_size(32)));

static inline v8f load(const float *p)
{
    v8f v;

    memcpy(&v, p, sizeof v);
    return v;
}

static inline v8f larger(v8f a, v8f b)
{
    v8i m = a > b;

    return (v8f)((m & (v8i)a) | (~m & (v8i)b));
}

/* exp of eight values <= 0 to about 2 ULP: 2^k times a polynomial on
 * [-ln 2 / 2, ln 2 / 2]. */
static inline v8f exp_neg(v8f x)
{
    v8f p = {0};

    x = larger(x, p - 87.0f);
    v8i k = __builtin_convertvector(x * 1.44269504f - 0.5f, v8i);
    v8f kf = __builtin_convertvector(k, v8f);
    v8f r = x - kf * 0.693145752f - kf * 1.42860677e-6f;
    p = r * 1.98756912e-4f + 1.39819994e-3f;
    p = p * r + 8.33345205e-3f;
    p = p * r + 4.16657962e-2f;
    p = p * r + 1.66666656e-1f;
    p = p * r + 0.5f;
    return (p * r * r + r + 1.0f) * (v8f)((k + 127) << 23);
}

int km_forward(const struct km_tensor *in, int n_in,
               const struct km_tensor *params, int n_params,
               struct km_tensor *out, int n_out)
{
    const float *x = in[0].data;
    float *y = out[0].data;
    int64_t n = in[0].shape[in[0].ndim - 1];
    int64_t rows = km_numel(&in[0]) / n;

    (void)n_in, (void)params, (void)n_params, (void)n_out;
    for (int64_t r = 0; r < rows; r++, x += n, y += n) {
        v8f maxes = (v8f){0} - INFINITY;
        v8f sums = {0};
        float max = -INFINITY;
        float sum = 0;
        int64_t i;
        for (i = 0; i + 8 <= n; i += 8)
            maxes = larger(load(x + i), maxes);
        for (; i < n; i++)
            max = x[i] > max ? x[i] : max;
        for (int k = 0; k < 8; k++)
            max = maxes[k] > max ? maxes[k] : max;
        for (i = 0; i + 8 <= n; i += 8) {
            v8f e = exp_neg((load(x + i) - max) * SCALE);
            memcpy(y + i, &e, sizeof e);
            sums += e;
        }
        for (; i < n; i++) {
            y[i] = expf((x[i] - max) * SCALE);
            sum += y[i];
        }
        for (int k = 0; k < 8; k++)
            sum += sums[k];
        float scale = 1 / sum;
        for (i = 0; i < n; i++)
            y[i] *= scale;
    }
    return 0;
}
