// task: total
// expect: ok
#pragma km let blocks = 2 * sm_count
#pragma km scratch part 4 * blocks
#pragma km launch sums<<<blocks, 256>>>(in0, part, long(in0.numel))
#pragma km launch sums<<<1, 256>>>(part, out0, long(blocks))

__global__ void sums(const float *x, float *y, long long n)
{
    __shared__ float all[256];
    float v = 0;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * (long long)blockDim.x)
        v += x[i];
    all[threadIdx.x] = v;
    for (int d = 128; d; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            all[threadIdx.x] += all[threadIdx.x + d];
    }
    if (threadIdx.x == 0)
        y[blockIdx.x] = all[0];
}
