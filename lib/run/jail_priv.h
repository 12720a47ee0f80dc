/* SPDX-License-Identifier: MIT */
/* Shared by the jail's files only. None of them may use lib/ beyond base.h. */
#ifndef KM_RUN_JAIL_PRIV_H
#define KM_RUN_JAIL_PRIV_H

#include "run/jail.h"

enum {
    LAYER_USER = 1,
    LAYER_PID = 2,
    LAYER_MOUNT = 4,
    LAYER_NET = 8,
    LAYER_IPC = 16,
    LAYER_LANDLOCK = 32,
    LAYER_SECCOMP = 64,
    LAYER_ALL = 127
};

/* What the new processes know of how they were made. */
struct jail_birth {
    const struct jail_conf *c;
    int ctl, sync;
    bool root;   /* ids can be changed: use OUTER */
    bool user;   /* a user namespace of our own already */
    bool spaces; /* the other namespaces */
    uid_t outer;
    int64_t mapped; /* bytes of address space in the caller */
    int have;
    int denied;   /* errno of the namespaces, when there are none */
    char dir[64]; /* private folder */
    const char *step;
};

/* Close all descriptors but the N of KEEP. */
void jail_close_others(const int *keep, int n);

/* Life of the init. SIGS is a signalfd of SIGCHLD, not blocking. */
void jail_init(const struct jail_birth *b, pid_t runner, int sigs) NORETURN;

/* Build the private root and make it "/": read-only binds of the system and
 * C's paths, devices, tmpfs for /tmp and /dev/shm owned by UID. Needs
 * CAP_SYS_ADMIN over a mount namespace of our own. 0, or -errno with STEP
 * set; then "/" is as it was. */
int jail_root(const struct jail_conf *c, uid_t uid, const char **step);

/* Landlock: read and execute on the system's and C's paths, write in DIR and
 * /dev/shm only; no TCP unless NETWORK. 0 or -errno. */
int jail_landlock(const struct jail_conf *c, const char *dir, bool own_root,
                  bool network);

/* Build the profile's filters (with GPU: of a jail that has one) once in the
 * caller, before any fork (libseccomp allocates). 0 or -errno. */
int jail_filter_prepare(int profile, bool gpu);
/* Install them, and that against signals to others when there is no PID
 * namespace. 0 or -errno. */
int jail_filter_install(int profile, bool gpu, bool own_pids);

#endif
