# SPDX-License-Identifier: MIT
# Library for LD_PRELOAD that makes the n-th write fail (tests/inject).
