# SPDX-License-Identifier: MIT
# The committed runs are what the generator makes of the sources.
python3 "$SRC/pipelines/sample/make-runs.py" .
diff -r "$SRC/pipelines/sample/runs" runs
cmp "$SRC/pipelines/sample/expected.json" expected.json && echo same
