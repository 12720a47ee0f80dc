/* SPDX-License-Identifier: MIT */
/* What km-testgen can be asked for; argv[0] is the name of program or command.
 * All return the exit status. */
#ifndef KM_TESTGEN_COMMANDS_H
#define KM_TESTGEN_COMMANDS_H

int testgen_main(int argc, char **argv); /* modules to tasks */
int import_main(int argc, char **argv);  /* other people's tasks */
int variant_main(int argc, char **argv); /* tasks of another dtype */

#endif
