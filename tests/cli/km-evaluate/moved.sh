# An installed tree works wherever it lies (make install DESTDIR=...).
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
mkdir -p usr/bin usr/libexec/kernelmill
cp "$(command -v km-evaluate)" usr/bin
cp "$KM_LIBEXEC"/* usr/libexec/kernelmill
unset KM_LIBEXEC
relu_task >tasks
revision relu "$here/relu_clamp.py" >revisions
usr/bin/km-evaluate --bare --json --no-store --budget 0.2 --tasks tasks \
    <revisions | outcomes
