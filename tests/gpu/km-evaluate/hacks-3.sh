# timeout: 600
# Hostile candidates, each with what its verdict must be (fixtures.bash):
# numbers 30 to 33, and those without.
. "$SRC/tests/gpu/km-evaluate/fixtures.bash"
need_gpu
fixtures hacks '3*' 'extra_*'
