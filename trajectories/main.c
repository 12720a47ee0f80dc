/* SPDX-License-Identifier: MIT */
/* km-trajectories: hands over to its two commands. */
#include "base.h"

#include "log.h"
#include "trajectories/commands.h"

static const char help[] =
    "usage: km-trajectories import RUN... [options]\n"
    "       km-trajectories select [options]\n"
    "\n"
    "import  search runs to revision records\n"
    "select  revisions and their verdicts to step and group records\n"
    "\n"
    "'km-trajectories COMMAND --help' lists a command's options.\n";

static int print(const char *text)
{
    if (fputs(text, stdout) < 0 || fflush(stdout) != 0)
        die("cannot write stdout: %s", strerror(errno));
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    log_program = "km-trajectories";
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "import") == 0)
        return import_main(argc - 1, argv + 1);
    if (strcmp(command, "select") == 0)
        return select_main(argc - 1, argv + 1);
    if (strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0) {
        return print(help);
    }
    if (strcmp(command, "--version") == 0 || strcmp(command, "-V") == 0) {
        return print("km-trajectories " KM_VERSION "\n");
    }
    if (*command)
        die_usage("no command '%s': import or select", command);
    die_usage("name a command: import or select");
}
