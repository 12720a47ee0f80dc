#include <math.h>

#include "km_candidate.h"

int km_forward(const struct km_tensor *in, int n_in,
               const struct km_tensor *params, int n_params,
               struct km_tensor *out, int n_out)
{
    const float *restrict x = in[0].data;
    const float *restrict weight = params[0].data;
    float *restrict y = out[0].data;
    int64_t dim = in[0].shape[in[0].ndim - 1];
    int64_t rows = km_numel(&in[0]) / dim;

    (void)n_in, (void)n_params, (void)n_out;
    for (int64_t r = 0; r < rows; r++, x += dim, y += dim) {
        float sums[8] = {0};
        float total = 0;
        int64_t i = 0;
        for (; i + 8 <= dim; i += 8)
            for (int k = 0; k < 8; k++)
                sums[k] += x[i + k] * x[i + k];
        for (; i < dim; i++)
            total += x[i] * x[i];
        for (int k = 0; k < 8; k++)
            total += sums[k];
        float scale = 1 / sqrtf(total / (float)dim + 1e-6f);
        for (i = 0; i < dim; i++)
            y[i] = x[i] * scale * weight[i];
    }
    return 0;
}
