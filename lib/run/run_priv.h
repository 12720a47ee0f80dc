/* SPDX-License-Identifier: MIT */
/* Shared by runner.c, zygote.c and build.c. */
#ifndef KM_RUN_PRIV_H
#define KM_RUN_PRIV_H

#include "run/runner.h"

/* Limits of every runner beyond those of struct runner_conf. */
#define RUNNER_FILE_SIZE ((int64_t)256 << 20)
#define RUNNER_TMP_SIZE  ((int64_t)256 << 20)
#define RUNNER_TASKS     64
/* With compilers: of their files, and of all of them together. */
#define RUNNER_TOOLS_SIZE ((int64_t)2 << 30)

/* Frame and control sockets: ends of this process and of the jail. */
int runner_sockets(int ours[2], int theirs[2], struct err *e) MUST_USE;
/* Wait for the hello; R has all but pid. */
int runner_hello(struct runner *r, double deadline, struct err *e) MUST_USE;
/* Environment of a program in the jail, of 7 strings, two of them in STORE. */
void runner_env(const char *envp[8], char store[2][96]);

/* Of the caller's environment, what finds a GPU. */
extern const char *const runner_gpu_env[];
#define RUNNER_GPU_ENV 3

#endif
