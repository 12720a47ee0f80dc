rc() { "$@" 2>&1 || echo "$?"; }
rc km-testgen --attempts 0
rc km-testgen --timeout never
rc km-testgen --memory 1K
rc km-testgen file
printf 'not a stream' | rc km-testgen -q
km-testgen --version | sed 's/[0-9.]*$/VERSION/'
