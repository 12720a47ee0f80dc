# timeout: 600
# Hostile candidates, each with what its verdict must be (fixtures.bash):
# numbers 16 to 29.
. "$SRC/tests/gpu/km-evaluate/fixtures.bash"
need_gpu
fixtures hacks '1[6-9]*' '2*'
