#include <pthread.h>

#include "km_candidate.h"

static struct job {
    const float *x;
    float *y;
    int64_t n;
} job;

static void *work(void *p)
{
    struct job *j = p;
    for (int64_t i = 0; i < j->n; i++)
        j->y[i] = j->x[i] > 0 ? j->x[i] : 0;
    return 0;
}

int km_forward(const struct km_tensor *in, int n_in,
               const struct km_tensor *params, int n_params,
               struct km_tensor *out, int n_out)
{
    pthread_t t;
    job = (struct job){in[0].data, out[0].data, km_numel(in)};
    if (pthread_create(&t, 0, work, &job))
        return 1;
    pthread_join(t, 0);
    return 0;
}
