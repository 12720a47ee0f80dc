// task: relu
// expect: runtime_error
#pragma km launch relu<<<1, 2048>>>(in0, out0, in0.numel)
__global__ void relu(const float *x, float *y, int n)
{
    y[threadIdx.x] = x[threadIdx.x] + n;
}
