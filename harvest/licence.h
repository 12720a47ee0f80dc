/* SPDX-License-Identifier: MIT */
/*
 * Which licence a text is: by the sentences that grant and limit, not by whole
 * templates, so that copyright lines, line breaks and quotation marks do not
 * matter. No answer ("") rather than a wrong one.
 */
#ifndef KM_LICENCE_H
#define KM_LICENCE_H

#include "base.h"

#define SPDX_MAX 120

/* SPDX expression of a licence file's text: several texts in one file give
 * "A AND B". Returns 0 = it is none of the known ones, 1 = SPDX set, 2 = it
 * limits use further (non-commercial and the like); SPDX is "" but for 1. */
int licence_text(char spdx[SPDX_MAX], struct span text);

/* Licence that a README claims for its own project: in a section on licences, a
 * sentence about the project ("this project is released under the MIT
 * license"), a badge or its front matter; "" when it claims none, or several,
 * or with exceptions, or limits use. */
void licence_readme(char spdx[SPDX_MAX], struct span text);

/* Licence stated at the top of a Python file: SPDX tag in its first lines,
 * (several hold together), else a notice in its leading comments or docstring.
 * Returns 0 = nothing is said there; 1 = SPDX set; 2 = what limits use, denies
 * a licence or is not understood: SPDX is "". TAG tells which way. */
int licence_header(char spdx[SPDX_MAX], bool *tag, struct span source);

/* Does EXPR pass: every licence joined by AND is allowed, of those joined by
 * OR one. ALLOW empty = all; DENY wins. Lists hold SPDX ids or "GPL-*". */
struct licence_rules {
    const char *const *allow, *const *deny;
    size_t n_allow, n_deny;
};
bool licence_allowed(const struct licence_rules *rules, const char *expr);
/* Is EXPR an SPDX expression that names licences (not NONE, NOASSERTION)? */
bool licence_is_expression(const char *expr);

/* Rank of a file name as licence file, 0 = it is none, or that of models, data
 * or documents; the higher the better ("LICENSE" before "LICENSE.md" before
 * "COPYING" before "COPYRIGHT"). */
int licence_file_rank(struct span name);
/* Is RANK that of COPYRIGHT, which may well hold no licence? */
bool licence_is_notice(int rank);
/* Is the licence file NAME called after the licence SPDX, one id, as
 * LICENSE-MIT or gpl-3.0-license.txt are? */
bool licence_names(struct span name, const char *spdx);
/* Licence named by the text of package metadata: pyproject.toml, setup.cfg,
 * setup.py, PKG-INFO; "" when it names none that is known, or several. */
void licence_metadata(char spdx[SPDX_MAX], struct span text);

#endif
