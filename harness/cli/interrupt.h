/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C, a terminal that goes away, or a plain kill: the first one asks the work to stop, the second ends the program.
 */
#ifndef ASSAY_CLI_INTERRUPT_H
#define ASSAY_CLI_INTERRUPT_H

#include <signal.h>

/*
 * Catch SIGINT, SIGTERM and, unless it is ignored, SIGHUP from here on; the flag becomes non-zero with the first of
 * them.
 */
const volatile sig_atomic_t *assay_interrupt_catch(void);
void assay_interrupt_release(void);

#endif
