/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/interrupt.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* timeout(1) and terminals may send the same signal to a process and to its group: that is one wish, not two. */
#define SAME_WISH_NS 500000000

static volatile sig_atomic_t interrupted;
static struct timespec first;
static bool caught;
static struct sigaction hangup; /* as it was; what nohup ignores stays so */

static void on_signal(int sig)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!interrupted) {
		first = now;
		interrupted = 1;
	} else if ((now.tv_sec - first.tv_sec) * 1000000000L + (now.tv_nsec - first.tv_nsec) > SAME_WISH_NS) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
}

const volatile sig_atomic_t *assay_interrupt_flag(void)
{
	return &interrupted;
}

void assay_interrupt_catch(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	if (caught)
		return;
	caught = true;
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
