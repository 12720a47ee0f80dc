/* SPDX-License-Identifier: MIT */
/* Names of kernels as a profiler tells them. */
#ifndef KM_EVALUATE_KERNEL_NAME_H
#define KM_EVALUATE_KERNEL_NAME_H

/* NAME without its namespaces and arguments, its template's too: "softmax" of
 * "void ns::softmax<float, 4>(float const*, int)". */
struct span kernel_base(struct span name);
/* Is it the work of SOURCE, which then holds that word? Not what is a
 * library's by its namespace. */
bool kernel_is_own(struct span name, struct span source);

#endif
