// task: relu
// expect: runtime_error
#pragma km launch relu<<<1, 256>>>(in0, out0, in0.numel)
__global__ void relu(const float *x, float *y, int n)
{
    ((float *)16)[threadIdx.x] = x[threadIdx.x] + n;
}
