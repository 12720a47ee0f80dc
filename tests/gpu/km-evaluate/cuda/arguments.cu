// task: relu
// expect: build_failed
#pragma km launch relu<<<1, 256>>>(in0, out0)
__global__ void relu(const float *x, float *y, int n)
{
    y[threadIdx.x] = x[threadIdx.x] + n;
}
