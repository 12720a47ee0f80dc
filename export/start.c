/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <fcntl.h>
#include <signal.h>

#include "export/start.h"
#include "log.h"

struct started program_start(void)
{
    struct started s = {fcntl(STDIN_FILENO, F_GETFD) < 0,
                        fcntl(STDOUT_FILENO, F_GETFD) < 0};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            _exit(EXIT_FATAL);
    signal(SIGPIPE, SIG_IGN);
    return s;
}
