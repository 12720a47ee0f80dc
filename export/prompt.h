/* SPDX-License-Identifier: MIT */
/*
 * Prompts and completions rendered from templates, for steps without a
 * recorded prompt or whose reply does not make the child. A template is a
 * text: system message, a line "---", user message; {{reference}} and
 * {{parent}} are replaced in the user message. Training and inference use the
 * same files, so the prompts are the same to the byte.
 */
#ifndef KM_PROMPT_H
#define KM_PROMPT_H

#include "err.h"
#include "val.h"

struct prompt {
    struct val *messages; /* [{role, content}] */
    const char *id;       /* name and digest of the template; "recorded" */
};

/* Render for LANGUAGE; a step from the reference when PARENT is empty. DIR
 * (or NULL: the built-in ones) holds first_LANGUAGE.txt and
 * step_LANGUAGE.txt. ERR_UNAVAILABLE: no template for the language. */
int prompt_render(struct arena *a, const char *dir, struct span language,
                  struct span reference, struct span parent, struct prompt *out,
                  struct err *e) MUST_USE;
/* CODE as the answer that the templates ask for. */
struct val *prompt_answer(struct arena *a, struct span language,
                          struct span code);
/* [{role: "assistant", content: TEXT}] */
struct val *prompt_completion(struct arena *a, const struct val *text);
void prompt_release(void); /* templates read from a folder */

#endif
