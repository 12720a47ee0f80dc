// task: linear
// expect: ok
// The weight is transposed once, and again when it has changed.
#pragma km let k = in0.shape[1]
#pragma km let m = out0.shape[1]
#pragma km scratch packed 4 * k * m
#pragma km init transpose<<<ceil_div(k * m, 256), 256>>>(l.weight, packed, m, k)
#pragma km launch linear<<<(ceil_div(m, 32), ceil_div(in0.shape[0], 32)), \
    (32, 32)>>>(in0, packed, l.bias, out0, in0.shape[0], k, m)

__global__ void transpose(const float *w, float *t, int m, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m * k)
        t[i % k * m + i / k] = w[i];
}

__global__ void linear(const float *x, const float *t, const float *b, float *y,
                       int n, int k, int m)
{
    __shared__ float a[32][33], c[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < k; i += 32) {
        int kx = i + threadIdx.x, ky = i + threadIdx.y;
        a[threadIdx.y][threadIdx.x] =
            row < n && kx < k ? x[(long long)row * k + kx] : 0;
        c[threadIdx.y][threadIdx.x] =
            col < m && ky < k ? t[(long long)ky * m + col] : 0;
        __syncthreads();
        for (int j = 0; j < 32; j++)
            sum += a[threadIdx.y][j] * c[j][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < m)
        y[(long long)row * m + col] = sum + b[col];
}
