// task: gelu_half
// expect: ok
// The toolkit's headers are there.
#pragma km launch gelu<<<ceil_div(in0.numel, 512), 256>>>(in0, out0, \
    in0.numel / 2)
#include <cuda_fp16.h>

__global__ void gelu(const __half2 *x, __half2 *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 v = __half22float2(x[i]);
    v.x = 0.5f * v.x * (1 + erff(v.x * 0.70710678f));
    v.y = 0.5f * v.y * (1 + erff(v.y * 0.70710678f));
    y[i] = __float22half2_rn(v);
}
