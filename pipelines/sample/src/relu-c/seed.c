#include <math.h>
#include <stdlib.h>

#include "km_candidate.h"

int km_forward(const struct km_tensor *in, int n_in,
               const struct km_tensor *params, int n_params,
               struct km_tensor *out, int n_out)
{
    const float *x = in[0].data;
    float *y = out[0].data;
    int64_t n = km_numel(&in[0]);
    float *sum;

    (void)n_in, (void)params, (void)n_params, (void)n_out;
    sum = malloc((size_t)n * sizeof(float));
    if (!sum)
        return 1;
    for (int64_t i = 0; i < n; i++)
        sum[i] = x[i] + fabsf(x[i]);
    for (int64_t i = 0; i < n; i++)
        y[i] = sum[i] / 2;
    free(sum);
    return 0;
}
