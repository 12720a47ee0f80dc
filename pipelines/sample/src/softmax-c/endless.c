#include "km_candidate.h"

/* Never returns. */
int km_forward(const struct km_tensor *in, int n_in,
               const struct km_tensor *params, int n_params,
               struct km_tensor *out, int n_out)
{
    volatile float *y = out[0].data;

    (void)in, (void)n_in, (void)params, (void)n_params, (void)n_out;
    for (;;)
        y[0] += 1;
}
