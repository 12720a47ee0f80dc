# Code cells of notebooks are read as one source that keeps lines and cells.
. "$SRC/tests/cli/km-harvest/repos.bash"
repo r
books=$SRC/tests/fuzz/corpus/notebook
add() { git -C r update-index --add --cacheinfo "100644,$(git -C r hash-object -w --stdin <"$2"),$1"; }
for b in v3 v4 magics julia cut nul; do add "nb/$b.ipynb" "$books/$b.ipynb"; done
add nb/.ipynb_checkpoints/v3.ipynb "$books/v3.ipynb"
printf '{"cells": [{"cell_type": "code", "source": ["from base import Base\\n", "class F(Base): pass"]}]}' >f
add nb/f.ipynb f
printf 'from torch import nn\nclass Base(nn.Module): pass\n' >f
add nb/base.py f
echo 'no JSON, and no such word' >f && add nb/text.ipynb f
git -C r commit -qm x
km-harvest --any-licence --json r >out
show '.path // "", .cell, .name, .line, .note' <out
jq -c 'select(.kind == "repo") | .counts' out
jq -r 'select(.kind == "file" and .path == "nb/v4.ipynb") | .source' out
km-cat --verify out
