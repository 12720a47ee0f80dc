# SPDX-License-Identifier: MIT
# The fast-import stream always gives the same commit.
git init -q --bare -b main sample.git
git -C sample.git fast-import --quiet <"$SRC/pipelines/sample/repo.fi"
git -C sample.git rev-parse main
git -C sample.git grep -hE '^class .*(Module|Block)\):' main -- '*.py' | wc -l
