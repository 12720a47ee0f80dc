# SPDX-License-Identifier: MIT
# Library for LD_PRELOAD that makes the n-th write fail.
SHLIBS += failio
failio_SRCS := tests/inject/failio.c
