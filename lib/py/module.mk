# SPDX-License-Identifier: MIT
PY_SRCS := lib/py/pytree.c lib/py/decode.c lib/py/pymod.c lib/py/scope.c \
	lib/py/bind.c lib/py/names.c lib/py/place.c lib/py/pyrepo.c \
	lib/py/modclass.c lib/py/alloc.c
PY_SRCS += lib/py/unsafe.c lib/py/skim.c
