#include <stdlib.h>
#include <string.h>

#include "km_candidate.h"

/* Takes all memory and touches it. */
int km_forward(const struct km_tensor *in, int n_in,
               const struct km_tensor *params, int n_params,
               struct km_tensor *out, int n_out)
{
    (void)in, (void)n_in, (void)params, (void)n_params, (void)out, (void)n_out;
    for (;;) {
        char *p = malloc(64 << 20);
        if (!p)
            return 1;
        memset(p, 1, 64 << 20);
    }
}
