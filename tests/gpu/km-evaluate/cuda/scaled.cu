// task: scaled
// expect: ok
// An argument of forward that is a number.
#pragma km launch scaled<<<ceil_div(in0.numel, 256), 256>>>(in0, out0, out1, \
    float(in1), in0.numel)

__global__ void scaled(const float *x, float *y, float *z, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i] * by;
        z[i] = x[i] + by;
    }
}
