#include "km_candidate.h"

int km_forward(const struct km_tensor *in, int n_in,
               const struct km_tensor *params, int n_params,
               struct km_tensor *out, int n_out)
{
    const float *x = in[0].data;
    float *y = out[0].data;
    int64_t n = km_numel(&in[0]);
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
    y[n] = 0;
    return 0;
}
