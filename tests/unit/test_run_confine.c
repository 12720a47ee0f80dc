/* SPDX-License-Identifier: MIT */
/* Confinement without namespaces, seen from inside. */
#include "base.h"

#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "mem.h"
#include "run/jail.h"

Suite *run_confine_suite(void);

static bool can_open(const char *path, int flags)
{
    int fd = open(path, flags, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool can_connect(int domain, int type)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    int fd = socket(domain, type, 0);
    if (fd < 0)
        return false;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool ok = domain != AF_INET ||
              connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ||
              errno == ECONNREFUSED;
    close(fd);
    return ok;
}

/* Bits of what was possible; 128 = could not be confined. */
static int look(int profile, const char *dir, const char *given)
{
    struct jail_conf c = {.profile = profile, .read_paths = {given}};
    const char *step;
    char *inside = xasprintf("%s/file", dir);
    if (jail_confine(&c, dir, &step) != 0)
        return 128;
    return (can_open(inside, O_RDWR | O_CREAT) ? 1 : 0) |
           (can_open("/etc/passwd", O_RDONLY) ? 2 : 0) |
           (can_open("/etc/hosts", O_RDONLY) ? 4 : 0) |
           (can_open("/tmp/km-outside", O_RDWR | O_CREAT) ? 8 : 0) |
           (can_connect(AF_INET, SOCK_STREAM) ? 16 : 0) |
           (can_connect(AF_UNIX, SOCK_STREAM) ? 32 : 0) |
           (can_connect(AF_NETLINK, SOCK_RAW) ? 64 : 0);
}

static int in_child(int profile)
{
    char dir[] = "/tmp/km-confine-XXXXXX";
    int status = 0;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    pid_t pid = fork();
    if (pid == 0)
        _exit(look(profile, dir, "/etc/hosts"));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    char *inside = xasprintf("%s/file", dir);
    unlink(inside);
    free(inside);
    rmdir(dir);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

START_TEST(test_fetch)
{
    int can = in_child(JAIL_FETCH);
    if (can != 128) /* a kernel without Landlock */
        ck_assert_int_eq(can, 1 | 4 | 16);
}
END_TEST

START_TEST(test_builder)
{
    int can = in_child(JAIL_BUILDER);
    if (can != 128)
        ck_assert_int_eq(can, 1 | 4);
}
END_TEST

Suite *run_confine_suite(void)
{
    Suite *s = suite_create("run_confine");
    TCase *t = tcase_create("confine");
    tcase_add_test(t, test_fetch);
    tcase_add_test(t, test_builder);
    suite_add_tcase(s, t);
    return s;
}
