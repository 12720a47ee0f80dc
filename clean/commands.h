/* SPDX-License-Identifier: MIT */
/* What km-clean can be asked for; argv[0] is the name of program or command.
 * Both return the exit status. */
#ifndef KM_CLEAN_COMMANDS_H
#define KM_CLEAN_COMMANDS_H

int clean_main(int argc, char **argv);
int fingerprint_main(int argc, char **argv);

#endif
