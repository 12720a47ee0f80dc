/* SPDX-License-Identifier: MIT */
/* What a runner sees of the file system: a private root, and Landlock. */
#include "base.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "jail_priv.h"

#define TMP_DEFAULT ((int64_t)64 << 20)

/* Readable and executable in every jail, where they exist. Compilers are
 * often links through /etc/alternatives. */
static const char *const system_paths[] = {
    "/usr", "/lib",  "/lib64",           "/lib32",
    "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives"};
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
                                      "/dev/random", "/dev/urandom"};

/* Of a jail with a GPU. Which node is which GPU is the driver's affair: a
 * process asks for one by number. */
static const char *const gpu_devices[] = {
    "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
    "/dev/nvidia0",   "/dev/nvidia1",    "/dev/nvidia2",
    "/dev/nvidia3",   "/dev/nvidia4",    "/dev/nvidia5",
    "/dev/nvidia6",   "/dev/nvidia7",    "/dev/nvidia8",
    "/dev/nvidia9",   "/dev/nvidia10",   "/dev/nvidia11",
    "/dev/nvidia12",  "/dev/nvidia13",   "/dev/nvidia14",
    "/dev/nvidia15"};

#define MAX_BINDS                                                              \
    (ARRAY_LEN(system_paths) + JAIL_PATHS + ARRAY_LEN(devices) +               \
     ARRAY_LEN(gpu_devices))

struct bind {
    const char *path;
    int tree; /* detached copy of the mount, -1 = a link */
    bool folder;
    char link[256];
};

/* Copy the mount at PATH while the old root is still there. 0 = there is
 * none, 1 = taken, -errno. */
static int bind_take(struct bind *b, const char *path, bool device)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY |
                                          MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
    struct stat st;
    ssize_t n;

    b->path = path;
    b->tree = -1;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (S_ISLNK(st.st_mode) && !device) {
        /* /bin -> usr/bin and the like stay links. */
        n = readlink(path, b->link, sizeof(b->link) - 1);
        if (n > 0 && b->link[0] != '/') {
            b->link[n] = '\0';
            return 1;
        }
    }
    if (stat(path, &st) < 0)
        return errno == ENOENT ? 0 : -errno;
    b->folder = S_ISDIR(st.st_mode);
    b->tree = open_tree(AT_FDCWD, path,
                        OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (b->tree < 0)
        return -errno;
    /* A device node in a mount without devices would be dead, and a
     * read-only one could not be opened for writing by some. */
    if (device)
        attr.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
    if (mount_setattr(b->tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
                      sizeof(attr)) < 0) {
        int r = -errno;
        close(b->tree);
        return r;
    }
    return 1;
}

/* mkdir -p of PATH's parents (and of PATH, when FOLDER) below ROOT. */
static int make_parents(int root, const char *path, bool folder)
{
    char part[PATH_MAX];
    size_t n = strlen(path);

    if (n >= sizeof(part))
        return -ENAMETOOLONG;
    for (size_t i = 1; i <= n; i++) {
        part[i - 1] = path[i]; /* without the leading slash */
        if (path[i] != '/' && path[i] != '\0')
            continue;
        if (path[i] == '\0' && !folder)
            break;
        part[i - 1] = '\0';
        if (part[0] && mkdirat(root, part, 0755) < 0 && errno != EEXIST)
            return -errno;
        part[i - 1] = path[i];
    }
    return 0;
}

static int bind_put(int root, struct bind *b)
{
    const char *rel = b->path + 1;
    int r = make_parents(root, b->path, b->tree >= 0 && b->folder);

    if (r < 0)
        return r;
    if (b->tree < 0)
        return symlinkat(b->link, root, rel) < 0 && errno != EEXIST ? -errno
                                                                    : 0;
    if (!b->folder) {
        int fd = openat(root, rel, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        if (fd < 0)
            return -errno;
        close(fd);
    }
    r = move_mount(b->tree, "", root, rel, MOVE_MOUNT_F_EMPTY_PATH);
    return r < 0 ? -errno : 0;
}

/* tmpfs of the private folders, at the relative path NAME. */
static int mount_tmp(const char *name, int64_t size, uid_t uid)
{
    char opts[128];

    snprintf(opts, sizeof(opts),
             "mode=0700,uid=%u,gid=%u,size=%" PRId64 ",nr_inodes=16384",
             (unsigned)uid, (unsigned)uid, size > 0 ? size : TMP_DEFAULT);
    return mount("tmpfs", name, "tmpfs", MS_NOSUID | MS_NODEV, opts) < 0
               ? -errno
               : 0;
}

/* CUDA names its threads through their entries there, and does not start where
 * it cannot. The entries of the jail's PID namespace are all there are. */
static int mount_proc(int root, const char **step)
{
    *step = "processes of the root";
    if (mkdirat(root, "proc", 0555) < 0 && errno != EEXIST)
        return -errno;
    return mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 "subset=pid") < 0
               ? -errno
               : 0;
}

/* Make the working directory the root and drop the old one. */
static int change_root(void)
{
    if (syscall(SYS_pivot_root, ".", ".") == 0)
        return umount2(".", MNT_DETACH) < 0 ? -errno : 0;
    /* The first root of a machine cannot be pivoted: cover it. */
    if (mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0)
        return -errno;
    return 0;
}

static int build_root(const struct jail_conf *c, uid_t uid, struct bind *binds,
                      size_t n, const char **step)
{
    struct mount_attr ro = {.attr_set = MOUNT_ATTR_RDONLY};
    int root, r = 0;

    *step = "mount of the root";
    if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV,
              "mode=0755,size=1m,nr_inodes=1024") < 0)
        return -errno;
    root = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0 || fchdir(root) < 0)
        r = -errno;
    *step = "folders of the root";
    if (r == 0 && (mkdirat(root, "tmp", 0700) < 0 && errno != EEXIST))
        r = -errno;
    if (r == 0)
        r = make_parents(root, "/dev/shm", true);
    if (r == 0)
        r = mount_tmp("tmp", c->tmp_size, uid);
    if (r == 0)
        r = mount_tmp("dev/shm", c->tmp_size, uid);
    if (r == 0 && c->gpu)
        r = mount_proc(root, step);
    /* After /tmp, so that what lies below it is seen too. */
    if (r == 0)
        *step = "binds of the root";
    for (size_t i = 0; i < n && r == 0; i++)
        r = bind_put(root, &binds[i]);
    if (r == 0 && mount_setattr(root, "", AT_EMPTY_PATH, &ro, sizeof(ro)) < 0)
        r = -errno;
    if (root >= 0)
        close(root);
    if (r == 0) {
        *step = "change of the root";
        r = change_root();
    }
    if (r < 0)
        (void)umount2("/tmp", MNT_DETACH);
    return r;
}

int jail_root(const struct jail_conf *c, uid_t uid, const char **step)
{
    struct bind binds[MAX_BINDS];
    size_t n = 0;
    int r = 0;

    *step = "private mounts";
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -errno;
    *step = "copies of mounts";
    for (size_t i = 0; i < ARRAY_LEN(system_paths) && r >= 0; i++)
        if ((r = bind_take(&binds[n], system_paths[i], false)) > 0)
            n++;
    for (size_t i = 0; i < JAIL_PATHS && c->read_paths[i] && r >= 0; i++)
        if ((r = bind_take(&binds[n], c->read_paths[i], false)) > 0)
            n++;
    for (size_t i = 0; i < ARRAY_LEN(devices) && r >= 0; i++)
        if ((r = bind_take(&binds[n], devices[i], true)) > 0)
            n++;
    for (size_t i = 0; c->gpu && i < ARRAY_LEN(gpu_devices) && r >= 0; i++)
        if ((r = bind_take(&binds[n], gpu_devices[i], true)) > 0)
            n++;
    if (r >= 0)
        r = build_root(c, uid, binds, n, step);
    for (size_t i = 0; i < n; i++)
        if (binds[i].tree >= 0)
            close(binds[i].tree);
    if (r == 0 && chdir("/tmp") < 0)
        r = -errno;
    return r < 0 ? r : 0;
}

/* ---- Landlock: the kernel's own numbers, newer than many headers ---- */

enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_REFER = 1 << 13,
    FS_TRUNCATE = 1 << 14,
    FS_IOCTL_DEV = 1 << 15
};

struct ruleset {
    uint64_t fs, net, scoped;
};

struct path_rule {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

static int allow(int set, const char *path, uint64_t rights, uint64_t handled)
{
    const uint64_t for_files =
        FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
    struct path_rule rule = {rights & handled, 0};
    struct stat st;
    int fd, r;

    fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rule.allowed &= for_files;
    rule.fd = fd;
    r = (int)syscall(SYS_landlock_add_rule, set, 1 /* beneath */, &rule, 0);
    if (r < 0)
        r = -errno;
    close(fd);
    return r;
}

int jail_landlock(const struct jail_conf *c, const char *dir, bool own_root,
                  bool network)
{
    const uint64_t read = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR;
    struct ruleset attr = {0};
    size_t size = sizeof(attr.fs);
    int set, r;
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* version */);

    if (abi < 1)
        return -errno;
    attr.fs = FS_REFER - 1;
    if (abi >= 2)
        attr.fs |= FS_REFER;
    if (abi >= 3)
        attr.fs |= FS_TRUNCATE;
    if (abi >= 4 && !network) {
        attr.net = 3; /* bind and connect of TCP */
    }
    if (abi >= 5)
        attr.fs |= FS_IOCTL_DEV;
    if (abi >= 4)
        size += sizeof(attr.net);
    if (abi >= 6) {
        attr.scoped = 3; /* abstract sockets and signals */
        size += sizeof(attr.scoped);
    }
    set = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    if (set < 0)
        return -errno;
    r = 0;
    for (size_t i = 0; i < ARRAY_LEN(system_paths) && r == 0; i++)
        r = allow(set, system_paths[i], read, attr.fs);
    for (size_t i = 0; i < JAIL_PATHS && c->read_paths[i] && r == 0; i++)
        r = allow(set, c->read_paths[i], read, attr.fs);
    for (size_t i = 0; i < ARRAY_LEN(devices) && r == 0; i++)
        r = allow(set, devices[i], FS_READ_FILE | FS_WRITE_FILE, attr.fs);
    for (size_t i = 0; c->gpu && i < ARRAY_LEN(gpu_devices) && r == 0; i++)
        r = allow(set, gpu_devices[i],
                  FS_READ_FILE | FS_WRITE_FILE | FS_IOCTL_DEV, attr.fs);
    if (r == 0 && c->gpu)
        r = allow(set, "/proc",
                  FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_TRUNCATE,
                  attr.fs);
    if (r == 0)
        r = allow(set, dir, attr.fs, attr.fs);
    if (r == 0 && own_root)
        r = allow(set, "/dev/shm", attr.fs, attr.fs);
    if (r == 0 && syscall(SYS_landlock_restrict_self, set, 0) < 0)
        r = -errno;
    close(set);
    return r;
}
