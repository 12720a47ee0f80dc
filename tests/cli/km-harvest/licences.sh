# Where a licence is found, and what it lets through.
. "$SRC/tests/cli/km-harvest/repos.bash"
m='from torch import nn\nclass M(nn.Module): pass\n'
l='.path // .repo, .licence.spdx, .licence.evidence'
bsd='Redistribution and use in source and binary forms, with or without
modification, are permitted provided that ...\n'
gpl='GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n'
lgpl='GNU LESSER GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n'
apache='Apache License\nVersion 2.0\nTERMS AND CONDITIONS FOR USE, REPRODUCTION, AND
DISTRIBUTION\n'
repo none
commit none m.py "$m"
repo odd
commit odd m.py "$m" LICENSE 'You may look at it on Tuesdays.\n'
repo some
commit some COPYRIGHT 'Copyright (c) X\n' LICENSE.md "$MIT" LICENSE-FID "$bsd" \
    m.py "$m" \
    tag.py "# SPDX-License-Identifier: GPL-2.0-only\n$m" \
    head.py "# Licensed under the Apache License, Version 2.0\n$m" \
    third/copying "$bsd" third/a/m.py "$m" third/b/LICENSE 'private\n' \
    third/b/m.py "$m"
repo choice
commit choice LICENSE-APACHE "$apache" LICENSE-MIT "$MIT" m.py "$m"
repo two # files of one folder: all hold
commit two LICENSE "$MIT" COPYING "$gpl" m.py "$m" sub/MIT-LICENSE "$MIT" \
    sub/LICENSE-GPL "$gpl" sub/LICENSE.txt "$apache" sub/m.py "$m" \
    same/LICENSE "$MIT" same/COPYING "$MIT" same/LICENSE-MODEL 'no\n' same/m.py "$m" \
    odd/LICENSE "$MIT" odd/LICENSE-NVIDIA 'For research only.\n' odd/m.py "$m" \
    one/LICENSE-MIT "$MIT" one/m.py "$m" \
    settled/LICENSE "$MIT" settled/LICENSE-MIT "$MIT" settled/LICENSE-APACHE "$apache" \
    settled/m.py "$m" lesser/COPYING "$gpl" lesser/COPYING.LESSER "$lgpl" lesser/m.py "$m"
repo meta
commit meta pyproject.toml '[project]\nlicense = {text = "MIT"}\n' m.py "$m"
repo reuse
commit reuse LICENSES/MIT.txt "$MIT" m.py "$m"
repo reuse2
commit reuse2 LICENSES/MIT.txt "$MIT" LICENSES/BSD-2-Clause.txt "$bsd" m.py "$m" \
    tag.py "# SPDX-License-Identifier: BSD-2-Clause\n$m"
repo beside
commit beside LICENSE "$MIT" m.py "$m" n.py "# Licensed under the MIT License\n$m" \
    n.py.license 'SPDX-FileCopyrightText: X\n\nSPDX-License-Identifier: ISC\n'
repo readme
commit readme README.md '# X\n\n## License\n\nX is released under the MIT license.\n' \
    setup.py 'setup(name="x")\n' m.py "$m"
for r in none odd some choice two meta reuse reuse2 beside readme; do
    echo "== $r"
    km-harvest --json $r | show "$l"
done
echo "== any"
km-harvest --json --any-licence none | show "$l"
echo "== only MIT and BSD"
km-harvest --json --licences MIT,BSD-* some choice two | show "$l" | grep module
echo "== no GPL"
km-harvest --json --deny-licences GPL-*,BSD-2-Clause some two | show "$l" | grep module
