# SPDX-License-Identifier: MIT
PROGS += km-trajectories
km-trajectories_SRCS := trajectories/main.c trajectories/import.c \
    trajectories/import_openevolve.c trajectories/import_jsonl.c \
    trajectories/lineage.c trajectories/replay.c trajectories/spill.c \
    trajectories/taskset.c trajectories/select.c trajectories/judge.c \
    trajectories/select_write.c
UNIT_SRCS += trajectories/import_openevolve.c trajectories/import_jsonl.c \
    trajectories/lineage.c trajectories/replay.c trajectories/spill.c \
    trajectories/taskset.c trajectories/judge.c trajectories/select_write.c
