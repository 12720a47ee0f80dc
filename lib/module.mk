# SPDX-License-Identifier: MIT
LIB_SRCS += lib/buf.c lib/err.c lib/hash.c lib/io.c lib/log.c lib/map.c \
	lib/mem.c lib/opt.c lib/pool.c lib/proc.c lib/progress.c lib/rec.c \
	lib/schema.c lib/stage.c lib/store.c lib/utf8.c lib/val.c \
	lib/val_json.c lib/val_pack.c lib/zio.c
