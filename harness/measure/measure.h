/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measuring one case in a worker: warm up until steady, calibrate, sample until known well enough, check before and
 * after.
 */
#ifndef ASSAY_MEASURE_MEASURE_H
#define ASSAY_MEASURE_MEASURE_H

#include "measure/options.h"
#include "model/catalog.h"
#include "model/comparison.h"
#include "model/result.h"

/*
 * Measure @c. Whatever happens to the kernel is a status of @out, and the return is 0. Negative only when the harness
 * itself cannot go on (ASSAY_EINTERRUPTED, ASSAY_ENOMEM, ASSAY_EINTERNAL). The caller releases @out in either case.
 */
int assay_measure_case(const struct assay_case *c, const struct assay_catalog *cat,
		       const struct assay_case_facts *facts, const struct assay_measure_options *o,
		       struct assay_result *out, struct assay_err *err);

/*
 * When all cases of a run are done: compare the digests of exact ops across variants and thread counts. Then add
 * roof_frac to the others: the share of what ops that measure the machine reached in this run. Marks results it changed
 * in @changed (n_results bools).
 */
int assay_measure_finish(struct assay_run *run, const struct assay_case_facts *facts,
			 const struct assay_host_info *host, const struct assay_catalog *cat, bool *changed,
			 struct assay_err *err);

/* ---- rounds ---- */

/*
 * Measures cases several times in a run, each time in a fresh process and with the other cases in between. Host and
 * process change more from one moment to the next than within the time that one case takes, and rounds see several
 * moments.
 */

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

/* ---- roof in turn ---- */

/* Measures a case interleaved with the limits that bound it. */

/* May a case with these facts be interleaved with its limits? Not if it is itself such a limit. */
bool assay_measure_roof_wanted(const struct assay_case_facts *f);

/*
 * Add roof_frac and roof_ns to @r, a finished case with the facts @f, from process pairs in which it takes turns with
 * the best variant that @run measured of each limit; @facts are those of the cases of the run. For a limit that is far
 * from binding, the measurement of the run is used. Each pair takes the budget of the case. If there is nothing yet to
 * hold it against, nothing is added, and assay_measure_finish() does it later; if a limit ends badly, the reason is
 * added. If the case ends badly, it gets that status and loses its numbers. Negative: see assay_measure_case.
 */
int assay_measure_roof(const struct assay_run *run, const struct assay_case_facts *facts,
		       const struct assay_case_facts *f, const struct assay_measure_options *o, struct assay_result *r,
		       struct assay_err *err);

/* ---- pair ---- */

/* One process pair: a base and a head worker on the same cores, taking turns sample by sample. */

/*
 * Whatever happens to a kernel is a status of its side, and the return is 0. There are samples only if both sides are
 * OK, and not in a first pair that finds that the calls of the later pairs are to be divided. The two sides map the
 * same tensors, so that the place of these in memory favours neither. If one side is wrong or ends while they do, or
 * exact outputs differ, the pair is taken again with separate memory for each side, which shows which side was wrong
 * and where. A variant that keeps something in scratch memory is thus not called wrong for it, but one that is wrong
 * only now and then is.
 *
 * @difference (ASSAY_DIFFERENCE_MAX bytes) gets the first element in which the outputs of an exact op differ, or "".
 * Negative: see assay_measure_case. The caller releases @out in either case.
 */
int assay_measure_pair(const struct assay_case *c, const struct assay_catalog *cat,
		       const struct assay_case_facts *facts, const struct assay_measure_options *o,
		       const struct assay_pair_options *po, struct assay_pair_calibration *calibration,
		       struct assay_pair *out, char *difference, struct assay_err *err);

#endif
