/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C, SIGTERM and SIGHUP as a flag, so that what is finished is kept. A second one, half a second later or more,
 * ends the program.
 */
#ifndef ASSAY_CLI_INTERRUPT_H
#define ASSAY_CLI_INTERRUPT_H

#include <signal.h>

const volatile sig_atomic_t *assay_interrupt_flag(void);
/* Set the flag on the first signal from here on. Nothing where they are caught already. */
void assay_interrupt_catch(void);
/* Signals act as before. Nothing where they are not caught. */
void assay_interrupt_release(void);

#endif
