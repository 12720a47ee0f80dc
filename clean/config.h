/* SPDX-License-Identifier: MIT */
/*
 * Configurations that make objects, as Python that makes the same: then what
 * knows values in Python (statics.h) knows theirs. Nothing runs it.
 *
 *   HyperPyYAML   `key: !new:pkg.mod.Class` with a map or list of arguments,
 *                 `!name:`, `!ref <key> * 2`
 *   Hydra, MONAI  `_target_: pkg.mod.Class` beside the arguments, `_args_`,
 *                 `_partial_`; `${a.b}`, `@a#b`, `$@a * 2`
 *   Lightning     `class_path: pkg.mod.Class` and `init_args:`
 *   latent diffusion  `target: pkg.mod.Class` and `params:`
 *
 * Each object, and each value that something refers to, is a statement of its
 * own, `n7_ = pkg.mod.Class(dim=n3_ * 2)`; what cannot be told is `...`.
 * Scalars are those of YAML 1.1, but `1e-3` is a number too.
 */
#ifndef KM_CLEAN_CONFIG_H
#define KM_CLEAN_CONFIG_H

#include "array.h"
#include "buf.h"

/* Line of the configuration for each line of the Python, 0 = none. */
struct config_lines {
    ARRAY(uint32_t) of;
};

/* By its name: .yaml, .yml, .json. */
bool config_is(struct span path);
/* Append the Python of configuration TEXT to OUT and its lines to LINES (the
 * caller releases both). -1: it cannot be read, or makes nothing. */
int config_python(struct buf *out, struct config_lines *lines,
                  struct span text) MUST_USE;

#endif
