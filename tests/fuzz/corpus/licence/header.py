#!/usr/bin/env python
# Copyright (c) 2020
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Licensed under the BSD 3-Clause License."""
