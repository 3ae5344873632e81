/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C: the first one asks the work to stop, the second ends the program. */
#ifndef ASSAY_CLI_INTERRUPT_H
#define ASSAY_CLI_INTERRUPT_H

#include <signal.h>

/* Catch SIGINT and SIGTERM from here on; the flag becomes non-zero with the first of them. */
const volatile sig_atomic_t *assay_interrupt_catch(void);
void assay_interrupt_release(void);

#endif
