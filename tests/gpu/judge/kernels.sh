# timeout: 300
# The judge's own kernels on a GPU: the same bytes as on the CPU, arenas that
# another mapping sees.
set -euo pipefail
ls /dev/nvidia[0-9]* >/dev/null 2>&1 || [ -e /dev/dxg ] || {
    echo "no GPU"
    exit 77
}
KM_GPU=1 CK_RUN_SUITE=eval_cuda "$BUILD/test/unit" | tail -n 1
