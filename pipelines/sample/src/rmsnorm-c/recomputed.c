#include <math.h>

#include "km_candidate.h"

int km_forward(const struct km_tensor *in, int n_in,
               const struct km_tensor *params, int n_params,
               struct km_tensor *out, int n_out)
{
    const float *x = in[0].data;
    const float *weight = params[0].data;
    float *y = out[0].data;
    int64_t dim = in[0].shape[in[0].ndim - 1];
    int64_t rows = km_numel(&in[0]) / dim;

    (void)n_in, (void)n_params, (void)n_out;
    for (int64_t r = 0; r < rows; r++, x += dim, y += dim) {
        for (int64_t first = 0; first < dim; first += 32) {
            volatile double total = 0;
            for (int64_t i = 0; i < dim; i++)
                total += (double)x[i] * x[i];
            double scale = 1 / sqrt(total / (double)dim + 1e-6);
            for (int64_t i = first; i < dim && i < first + 32; i++)
                y[i] = (float)(x[i] * scale * weight[i]);
        }
    }
    return 0;
}
