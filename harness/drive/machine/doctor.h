/* SPDX-License-Identifier: Apache-2.0 */
/* Report which measurements this machine can and cannot take. */
#ifndef ASSAY_DRIVE_MACHINE_DOCTOR_H
#define ASSAY_DRIVE_MACHINE_DOCTOR_H

#include <stdbool.h>

#include "drive/request.h"
#include "machine/clock.h"
#include "machine/core_pace.h"
#include "machine/topology.h"
#include "model/reports.h"

/* Look; takes a second or two. Release @out in either case. */
int assay_health_check(struct assay_health_check *out, struct assay_err *err);
void assay_health_check_release(struct assay_health_check *c);

/* ---- fitness ---- */

/* The line about the machine that precedes the numbers of a run or comparison. */

#define ASSAY_FITNESS_MAX 256

/*
 * Try the cores that @q allows, for a tenth of a second altogether, and write which changes they can detect, as
 * assay_fitness_text says, at the margin and the rate of false alarms that comparisons have by default. If the work is
 * not to depend on time, nothing is tried. True: other work runs on the cores.
 */
bool assay_fitness_line(const struct assay_topology *t, const struct assay_clock *clock, const struct assay_request *q,
			char *buf, size_t size);
/* The same sentence about @n cores that were tried; @untold where they could not be. */
bool assay_fitness_of_shares(const struct assay_core_share *share, size_t n, const char *untold, char *buf,
			     size_t size);

#endif
