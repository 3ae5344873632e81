/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine can and cannot measure. */
#ifndef ASSAY_DRIVE_MACHINE_DOCTOR_H
#define ASSAY_DRIVE_MACHINE_DOCTOR_H

#include "machine/clock.h"
#include "model/finding.h"

#define ASSAY_ABILITY_MAX 400

struct assay_health_check {
	char topology[256];                   /* in one line */
	char abilities[4][ASSAY_ABILITY_MAX]; /* what can be measured here, a sentence each */
	struct assay_clock clock;
	const char *clock_name;
	double sample_overhead_ns;
	struct assay_findings findings;
};

/* Look; takes a second or two. Release @out in either case. */
int assay_health_check(struct assay_health_check *out, struct assay_err *err);
void assay_health_check_release(struct assay_health_check *c);

#endif
