/* SPDX-License-Identifier: MIT */
/*
 * One attempt: values for the constructor and a spec for each argument of
 * forward, as values in an arena:
 *
 *   {init: {NAME: {v: value, ev: text}}, in: {NAME: input, ...}}
 *
 * A constructor value is a plain one, {"$": text} for a Python expression, or
 * {"()": list} for a tuple. `redraw: true` gives parameters that start at zero
 * other values.
 * `form: {ARG: how}` says how Model makes an argument: "tuple" of the list of
 * that name; "object", "dict" or a class of the source of the inputs whose keys
 * are "ARG.FIELD". `unwrap: true`: the output is an object, its tensors are the
 * output.
 * An input has the fields of docs/records.md (task.inputs). States are never
 * changed once made: every step copies.
 */
#ifndef TESTGEN_STATE_H
#define TESTGEN_STATE_H

#include "testgen/facts.h"

struct val *state_new(struct arena *a);
struct val *state_copy(struct arena *a, const struct val *state);

/* Value of constructor argument NAME, or NULL when it is not passed. */
const struct val *state_init(const struct val *state, struct span name);
/* VALUE NULL removes it. */
void state_set_init(struct arena *a, struct val *state, struct span name,
                    struct val *value, const char *evidence);
struct val *state_input(const struct val *state, struct span name);
void state_set_input(struct arena *a, struct val *state, struct span name,
                     struct val *input);

/* How an argument of forward is made, empty when it is an input itself. */
struct span state_form(const struct val *state, struct span name);
void state_set_form(struct arena *a, struct val *state, struct span name,
                    const char *how);
/* An argument is made by class HOW. */
bool state_has_form(const struct val *state, struct span how);
/* Argument NAME is passed: as an input or in parts. */
bool state_passes(const struct val *state, struct span name);
/* It and all its parts go. */
void state_drop_input(struct arena *a, struct val *state, struct span name);
/* "data" and "x" of the key "data.x"; no argument, and the key. */
struct span key_argument(struct span key);
struct span key_field(struct span key);
/* Keys of the inputs in the order of get_inputs; number of them. */
size_t state_order(const struct facts *f, const struct val *state,
                   struct span *keys, size_t cap);

struct val *expr_val(struct arena *a, const char *text);
bool is_expr(const struct val *v);
struct val *tuple_val(struct arena *a, struct val *list);
/* Items of a list or a tuple, NULL for anything else. */
const struct val *seq_items(const struct val *v);

/* Input entries. NAME is copied. */
struct val *input_tensor(struct arena *a, struct span name,
                         const int64_t *shape, size_t rank);
struct val *input_ids(struct arena *a, struct span name, const int64_t *shape,
                      size_t rank, int64_t hi);
struct val *input_mask(struct arena *a, struct span name, const int64_t *shape,
                       size_t rank);
struct val *input_value(struct arena *a, struct span name, struct val *value);
/* The same entry with another shape. */
struct val *input_reshaped(struct arena *a, const struct val *input,
                           const int64_t *shape, size_t rank);
bool input_is_tensor(const struct val *input);
size_t input_shape(const struct val *input, int64_t *shape, size_t cap);
/* Numbers in all tensors of the state's inputs. */
int64_t state_elements(const struct val *state);

/*
 * The texts that the interpreter gets: MODEL defines class Model and
 * get_init_inputs, INPUTS defines get_inputs. ENTRY is the name under which the
 * source defines the class.
 */
int state_model_text(struct buf *out, const struct facts *f,
                     const struct val *state, struct span entry) MUST_USE;
int state_inputs_text(struct buf *out, const struct facts *f,
                      const struct val *state) MUST_USE;
/* task.init and task.inputs: lists in the order of the arguments. */
struct val *state_task_init(struct arena *a, const struct facts *f,
                            const struct val *state);
struct val *state_task_inputs(struct arena *a, const struct facts *f,
                              const struct val *state);

/* Python literal of a plain value; expressions as they stand. */
int py_literal(struct buf *out, const struct val *v);

#endif
