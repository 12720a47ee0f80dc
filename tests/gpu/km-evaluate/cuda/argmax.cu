// task: argmax
// expect: ok
#pragma km let width = in0.shape[1]
#pragma km launch argmax<<<ceil_div(in0.shape[0], 4), 128>>>(in0, out0, \
    in0.shape[0], width)

__global__ void argmax(const float *x, long long *y, int rows, int width)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float most = -INFINITY;
    int at = width;
    if (row >= rows)
        return;
    x += (long long)row * width;
    for (int i = lane; i < width; i += 32)
        if (x[i] > most) {
            most = x[i];
            at = i;
        }
    for (int d = 16; d; d /= 2) {
        float m = __shfl_xor_sync(~0u, most, d);
        int a = __shfl_xor_sync(~0u, at, d);
        if (m > most || (m == most && a < at)) {
            most = m;
            at = a;
        }
    }
    if (lane == 0)
        y[row] = at;
}
