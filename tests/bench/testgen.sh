#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Tasks from real repositories: testgen.sh [OPTION...] PATH...
# See testgen.py for the columns.
set -euo pipefail

if [ $# = 0 ]; then
    echo "testgen: skipped, no repositories (make bench-testgen REPOS='PATH...')"
    exit 0
fi
cache=${KM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kernelmill}
[ -n "${KM_PYTHON:-}" ] || KM_PYTHON=$cache/python
export KM_PYTHON
exec python3 tests/bench/testgen.py "$@"
