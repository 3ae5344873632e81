/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Ctrl-C, SIGTERM and SIGHUP do to the program, from its first lines to its last: it says so and ends with
 * ASSAY_CLI_EXIT_INTERRUPTED.
 */
#ifndef ASSAY_CLI_INTERRUPT_H
#define ASSAY_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Catch them. A SIGHUP that is ignored stays so, as nohup asks for it. Until work is held the program ends at once. */
void assay_interrupt_catch(void);
/*
 * From here on there is work that keeps what is finished and tidies up, and that looks at the flag. The first signal
 * sets it. A second one, half a second later or more, ends the program.
 */
void assay_interrupt_hold(void);
/* The work has ended. True when the flag was set meanwhile. */
bool assay_interrupt_release(void);
const volatile sig_atomic_t *assay_interrupt_flag(void);
/* A process that runs a plugin and whose signal was ignored since this was asked last; 0: none. */
pid_t assay_interrupt_ignored(void);

#endif
