/* SPDX-License-Identifier: MIT */
/* The commands of km-trajectories; argv[0] is the command's name. */
#ifndef KM_COMMANDS_H
#define KM_COMMANDS_H

int import_main(int argc, char **argv);
int select_main(int argc, char **argv);

#endif
