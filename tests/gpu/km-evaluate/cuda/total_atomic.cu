// task: total
// expect: ok
// Partial sums meet in one element, in any order.
#pragma km zero out0
#pragma km launch total<<<min(ceil_div(in0.numel, 1024), 4 * sm_count), \
    256>>>(in0, out0, long(in0.numel))

__global__ void total(const float *x, float *y, long long n)
{
    float v = 0;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * (long long)blockDim.x)
        v += x[i];
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(y, v);
}
