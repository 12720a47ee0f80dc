#include "km_candidate.h"

#include <stdlib.h>

static float *packed; /* transposed weights */

int km_init(const struct km_tensor *params, int n_params)
{
    const float *w = params[0].data;
    free(packed);
    packed = malloc(64 * 32 * sizeof(*packed));
    if (!packed || n_params != 2)
        return 1;
    for (int i = 0; i < 32; i++)
        for (int k = 0; k < 64; k++)
            packed[k * 32 + i] = w[i * 64 + k];
    return 0;
}

int km_forward(const struct km_tensor *in, int n_in,
               const struct km_tensor *params, int n_params,
               struct km_tensor *out, int n_out)
{
    const float *x = in[0].data, *b = params[1].data;
    float *y = out[0].data;
    for (int64_t r = 0; r < in[0].shape[0]; r++) {
        float acc[32];
        for (int i = 0; i < 32; i++)
            acc[i] = b[i];
        for (int k = 0; k < 64; k++)
            for (int i = 0; i < 32; i++)
                acc[i] += x[r * 64 + k] * packed[k * 32 + i];
        for (int i = 0; i < 32; i++)
            y[r * 32 + i] = acc[i];
    }
    return 0;
}
