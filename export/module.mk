# SPDX-License-Identifier: MIT
PROGS += km-export km-cat
km-export_SRCS := export/export.c export/dataset.c export/shard.c \
    export/records.c export/prompt.c export/reward.c export/start.c
km-cat_SRCS := export/cat.c export/filter.c export/start.c
EMBED += export/templates/first_torch.txt export/templates/step_torch.txt \
    export/templates/first_c.txt export/templates/step_c.txt
UNIT_SRCS += export/dataset.c export/shard.c export/records.c \
    export/prompt.c export/reward.c export/filter.c
