// task: relu
// expect: ok
#pragma km launch relu<<<ceil_div(in0.numel, 256), 256>>>(in0, out0, in0.numel)

__global__ void relu(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] > 0 ? x[i] : 0;
}
