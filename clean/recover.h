/* SPDX-License-Identifier: MIT */
/* Working around what a closure cannot have. */
#ifndef KM_CLEAN_RECOVER_H
#define KM_CLEAN_RECOVER_H

#include "clean/closure.h"

/* Where a closure failed. */
struct fault {
    enum err_code code;
    int unit;    /* of the closure */
    uint32_t at; /* offset in its file */
    char note[256];
};

/* Leave something out on the way from the entry to X, so that the closure is
 * worth another try; false when the class cannot do without. */
bool recover(struct closure *c, const struct fault *x);
/* Does something name a method that was left out? X: where, and what was wrong
 * with the method. */
bool recover_check(const struct closure *c, struct fault *x);

/* Leave out the method D of F; X tells why. */
void recover_cut_method(struct closure *c, struct cfile *f,
                        const struct pydef *d, const struct fault *x);
/* Is NAME a method that torch.nn.Module itself calls, or whose absence would
 * change what an object does without anybody calling it by name? */
bool recover_is_hook(struct span name);
/* Has the class D of F a base of torch that calls its own methods, which the
 * class may override: `_conv_forward`, `reset_parameters`? ANY: or one at all
 * that is not the repository's. At most *LEFT bases are followed, else true. */
#define RECOVER_MAX_BASES 100
bool recover_has_base(struct closure *c, struct cfile *f, const struct pydef *d,
                      bool any, int *left);
/* Does the word at AT of F, of N bytes, ask an object or a class body for
 * something of that name? */
bool recover_asks_for(const struct cfile *f, uint32_t at, size_t n);

/* lean.c: leave out the methods of C, closed, that nothing asks for; false when
 * there are none. Close again. */
bool lean_cut(struct closure *c);

/* Does the function that unit U defines run while the source is imported: is it
 * called, or a decorator, there? */
bool runs_at_import(struct closure *c, const struct unit *u);
/* Leave out the decorators of UNIT that only register. */
void registrar_cut(struct closure *c, int unit);
/* Something of the closure looks up what decorators that were left out
 * register: true, and they stay; close again. Those that would raise because
 * the class they are for is not in the closure are left out for good: true. */
bool registrar_restore(struct closure *c);

#endif
