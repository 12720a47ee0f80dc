# timeout: 600
# Honest candidates, each with what its verdict must be: PyTorch, Triton, CUDA
# and C++ (fixtures.bash), from a to d.
. "$SRC/tests/gpu/km-evaluate/fixtures.bash"
need_gpu
fixtures honest '[a-d]*'
