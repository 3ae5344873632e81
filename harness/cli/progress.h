/* SPDX-License-Identifier: Apache-2.0 */
/* A bar with the time left on a terminal's standard error; silent anywhere else. */
#ifndef ASSAY_CLI_PROGRESS_H
#define ASSAY_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/case.h"

struct assay_progress {
	bool on;
	const struct assay_case *cases;
	const bool *wanted;  /* cases of this round; NULL: all */
	const bool *in_turn; /* cases that then take turns with their limits; NULL: none */
	unsigned rounds, round;
	size_t n, at;
	uint64_t began_ns, drawn_ns;
	double total, done; /* expected ns */
};

/* @rounds is how often each case is to be sampled; 0: they are not (verify). */
void assay_progress_begin(struct assay_progress *p, const struct assay_case *cases, size_t n, unsigned rounds);
/* Before the first case: those that are then measured in turn with their limits; borrowed. */
void assay_progress_in_turn(struct assay_progress *p, const bool *in_turn);
/* Round @round of them begins, with the @wanted cases only; borrowed until the next. */
void assay_progress_round(struct assay_progress *p, unsigned round, const bool *wanted);
/* Case @i starts; all before it are done. */
void assay_progress_case(struct assay_progress *p, size_t i);
/* Share of the current case, 0 to 1, before it takes turns. */
void assay_progress_part(struct assay_progress *p, double part);
/* The other way to use it: nothing but an expected time, and a share and a label each time. */
void assay_progress_begin_for(struct assay_progress *p, double expected_ns);
void assay_progress_show(struct assay_progress *p, double done_frac, const char *label);
/* Take the bar away, so that text can be printed; the next update brings it back. */
void assay_progress_hide(struct assay_progress *p);

#endif
