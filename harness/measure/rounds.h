/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures cases several times in a run, each time in a fresh process and with the other cases in between. Host and
 * process change more from one moment to the next than within the time that one case takes, and rounds see several
 * moments.
 */
#ifndef ASSAY_MEASURE_ROUNDS_H
#define ASSAY_MEASURE_ROUNDS_H

#include "model/catalog.h"
#include "model/result.h"

/* The budget of one round of @rounds. */
uint64_t assay_round_budget_ns(uint64_t budget_ns, unsigned rounds);

/*
 * Is another round of @r worth its time, when the first took @took_ns? Not when making and checking its inputs is most
 * of it.
 */
bool assay_round_wanted(const struct assay_result *r, uint64_t took_ns);

/*
 * Add a later round of the same case to @r: append the samples of @round; replace metrics and counts that the first
 * round has by the means over the rounds that have them; recompute what follows from the samples. If the round did not
 * end well, or its output differs, @r gets the status of the round and keeps no numbers. Takes over what it needs of
 * @round; release both. ASSAY_ENOMEM.
 */
int assay_result_add_round(struct assay_result *r, struct assay_result *round, const struct assay_cost *cost,
			   struct assay_err *err);

#endif
