#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Harvest, clean and import of real repositories: harvest.sh PATH...
# See harvest.py for the columns.
set -euo pipefail

if [ $# = 0 ]; then
    echo "harvest: skipped, no repositories (make bench-harvest REPOS='PATH...')"
    exit 0
fi
cache=${KM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kernelmill}
[ -n "${KM_PYTHON:-}" ] || KM_PYTHON=$cache/python
export KM_PYTHON
exec python3 tests/bench/harvest.py "$@"
