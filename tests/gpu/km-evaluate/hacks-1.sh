# timeout: 600
# Hostile candidates, each with what its verdict must be (fixtures.bash):
# numbers 1 to 15.
. "$SRC/tests/gpu/km-evaluate/fixtures.bash"
need_gpu
fixtures hacks '0*' '1[0-5]*'
