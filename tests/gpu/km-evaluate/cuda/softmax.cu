// task: softmax
// expect: ok
// One block a row, which lies in shared memory.
#pragma km let width = in0.shape[-1]
#pragma km launch softmax<<<in0.numel / width, 256, 4 * width>>>(in0, out0, \
    width)

__device__ float all_of(float v, bool sum)
{
    __shared__ float part[32];
    for (int d = 16; d; d /= 2) {
        float o = __shfl_xor_sync(~0u, v, d);
        v = sum ? v + o : fmaxf(v, o);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[threadIdx.x % (blockDim.x / 32)];
    for (int d = blockDim.x / 64; d; d /= 2) {
        float o = __shfl_xor_sync(~0u, v, d);
        v = sum ? v + o : fmaxf(v, o);
    }
    return v;
}

__global__ void softmax(const float *x, float *y, int width)
{
    extern __shared__ float row[];
    float most = -INFINITY, sum = 0;
    x += (long long)blockIdx.x * width;
    y += (long long)blockIdx.x * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        most = fmaxf(most, row[i] = x[i]);
    most = all_of(most, false);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        sum += row[i] = expf(row[i] - most);
    sum = all_of(sum, true);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        y[i] = row[i] / sum;
}
