// task: layer_norm
// expect: ok
// Parameters by their names in the reference's state dict.
#pragma km let width = in0.shape[-1]
#pragma km launch layer_norm<<<in0.numel / width, 128>>>(in0, n.weight, n.bias, out0, \
    width, float(0.00001))

__device__ float total(float v)
{
    __shared__ float part[4];
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    return part[0] + part[1] + part[2] + part[3];
}

extern "C" __global__ void layer_norm(const float *x, const float *w, const float *b,
                                float *y, int width, float eps)
{
    float mean = 0, square = 0, scale;
    x += (long long)blockIdx.x * width;
    y += (long long)blockIdx.x * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        mean += x[i];
    mean = total(mean) / width;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        square += (x[i] - mean) * (x[i] - mean);
    scale = rsqrtf(total(square) / width + eps);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        y[i] = (x[i] - mean) * scale * w[i] + b[i];
}
