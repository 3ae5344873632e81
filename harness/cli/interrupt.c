/* SPDX-License-Identifier: Apache-2.0 */
/* A flag set by the handler, which takes itself away. */
#include "cli/interrupt.h"

#include <stdbool.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;
static bool caught;
static struct sigaction hangup; /* as it was; what nohup ignores stays so */

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

const volatile sig_atomic_t *assay_interrupt_flag(void)
{
	return &interrupted;
}

void assay_interrupt_catch(void)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	if (caught)
		return;
	caught = true;
	interrupted = 0;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
}

void assay_interrupt_release(void)
{
	if (!caught)
		return;
	caught = false;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigaction(SIGHUP, &hangup, NULL);
}
