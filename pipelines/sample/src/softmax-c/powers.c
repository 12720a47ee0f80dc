#include <math.h>

#include "km_candidate.h"

#define SCALE 4.0f
#define LOG2E 1.4426950408889634

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
        double max = -INFINITY;
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            max = fmax(max, (double)SCALE * x[i]);
        for (int64_t i = 0; i < n; i++)
            sum += exp2(LOG2E * ((double)SCALE * x[i] - max));
        for (int64_t i = 0; i < n; i++) {
            volatile double e = 0;
            for (int k = 0; k < 4; k++)
                e += exp2(LOG2E * ((double)SCALE * x[i] - max)) / 4;
            y[i] = (float)(e / sum);
        }
    }
    return 0;
}
