/* SPDX-License-Identifier: Apache-2.0 */
/* The line about the machine that precedes the numbers of a run or comparison. */
#ifndef ASSAY_DRIVE_MACHINE_FITNESS_H
#define ASSAY_DRIVE_MACHINE_FITNESS_H

#include <stdbool.h>

#include "drive/request.h"
#include "machine/clock.h"
#include "machine/core_survey.h"
#include "machine/topology.h"

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
