// task: relu
// expect: ok
// Four elements a thread, a grid of what the GPU runs at once.
#pragma km let n4 = in0.numel / 4
#pragma km launch relu<4><<<min(ceil_div(n4, 256), 8 * sm_count), 256>>>(in0, \
    out0, n4)

template <int N> struct alignas(4 * N) pack {
    float v[N];
};

template <int N> __global__ void relu(const pack<N> *x, pack<N> *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x) {
        pack<N> p = x[i];
        for (int k = 0; k < N; k++)
            p.v[k] = fmaxf(p.v[k], 0.f);
        y[i] = p;
    }
}
