/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts: of the cases of a session, of both sides of a comparison, and in gates and baselines. */
#ifndef ASSAY_DRIVE_EXACT_EXACT_H
#define ASSAY_DRIVE_EXACT_EXACT_H

#include <stdint.h>

#include "base/text.h"
#include "drive/compare/plan.h"
#include "drive/gate/request.h"
#include "drive/request.h"
#include "drive/session.h"
#include "drive/watch.h"
#include "judge/exact_baseline.h"
#include "judge/policy.h"
#include "machine/clock.h"
#include "measure/exact.h"
#include "model/exact.h"
#include "model/gate_report.h"
#include "model/verdict.h"
#include "plan/plan.h"
#include "store/store.h"

struct assay_baseline_update;

/* ---- counting ---- */

/* Exact counts of the cases of a session: which are counted, how, with which caches. */

#define ASSAY_EXACT_REASON_MAX 512

/* The model that counts of this session are taken with: the request's, the suite's, or "canon". */
const char *assay_exact_counting_model(const struct assay_session *session, const struct assay_request *q);
/* How many steps a call may take: as the request says, the suite, or 0. */
uint64_t assay_exact_counting_steps(const struct assay_session *session, const struct assay_request *q);
/*
 * Are all cases counted, because `only` chose them or the suite names none for it? Otherwise those that the suite
 * names.
 */
bool assay_exact_counting_all(const struct assay_session *session, const struct assay_request *q);

/*
 * Count into @out as assay_exact_schedule_run() says: with ASSAY_TAKE_COUNTS those of assay_exact_counting_all(), and
 * the others are skipped; otherwise those that the suite names.
 * Where there is no simulator and @why is not NULL, say so once, put the reason there and leave @out without cases;
 * @why is "" otherwise. ASSAY_EINTERRUPTED when the watch says so, with the finished cases in @out. Release @out in
 * either case.
 */
int assay_exact_counting(const struct assay_session *session, const struct assay_request *q,
			 const struct assay_clock *clock, const struct assay_watch *w, char why[ASSAY_EXACT_REASON_MAX],
			 struct assay_exact_run *out, struct assay_err *err);
/*
 * Add to @r what @counts (may be NULL) has of its case: metrics, or the reason why there are none; @why where the suite
 * names the case and none could be counted. *changed: there was something to add. A case that took less time than so
 * many instructions can take becomes WRONG_RESULT.
 */
int assay_exact_counting_join(struct assay_result *r, const struct assay_exact_run *counts,
			      const struct assay_plan *plan, const char *why, bool *changed, struct assay_err *err);
/*
 * 3 when a result is wrong, else 4 when a case crashed, timed out or failed, else 0. Warns when all were skipped, which
 * is 4, too, when counts are @all that was asked for.
 */
enum assay_exit assay_exact_counting_exit(const struct assay_exact_run *run, bool all, const struct assay_watch *w);

/* ---- size ---- */

/*
 * How large the calls are that are counted: what their steps cost, and the smaller shapes that stand for those too
 * large.
 */

/* Report what the steps of a case are going to cost before they are taken, and how far they are; to @watch. */
void assay_exact_size_tell(void *watch, const struct assay_exact_steps *steps);
/* Does the suite say that case @key of @plan is counted at its smaller shapes alone? Not where steps are asked for. */
bool assay_exact_size_small(const struct assay_plan *plan, const struct assay_request *q, const char *key);
/* Why it is not counted itself, then. */
#define ASSAY_EXACT_SMALL "the suite counts it at a smaller shape, and in full where --steps is given"
/*
 * Behind the reason of @c, which took too many steps as case @key of @plan: the smaller ones that are counted for it,
 * or what would help.
 */
void assay_exact_size_name_smaller(const struct assay_plan *plan, const char *key, struct assay_exact_case *c);

/* ---- schedule ---- */

/*
 * In which order cases are counted, how many at once, and what is left out when the time for all of them is over.
 * Counts do not depend on what is counted beside them, so that only the time does.
 */

struct assay_exact_schedule {
	const struct assay_session *session;
	const struct assay_request *request;
	const size_t *cases; /* indices into the plan */
	size_t n_cases;
	const struct assay_exact_options *options; /* left_ns and on_steps are the schedule's */
	/* of processor time, so about what all take on a machine that does nothing else; 0: as long as it takes */
	uint64_t budget_ns;
	const struct assay_exact_baseline *recorded; /* whose cases come first; all-zero: none */
	const struct assay_watch *watch;
};

/*
 * Count into @out, in the order of the plan, each case followed by the smaller ones that stand for it because it takes
 * too long. First come those that are recorded, by any compiler, the cheapest ones before the others; then
 * one of each variant; then what is left. Cases for which there was no
 * time are skipped with that reason, and named in a warning. ASSAY_EINTERRUPTED with the finished cases in @out.
 */
int assay_exact_schedule_run(const struct assay_exact_schedule *s, struct assay_exact_run *out, struct assay_err *err);

/* ---- price ---- */

/* How long it takes to count a case, estimated from its recorded counts. */

/* The record of the case @key, of whichever build in @b has it first; NULL: it is not recorded. */
const struct assay_exact_case *assay_exact_price_case(const struct assay_exact_baseline *b, const char *key);
/*
 * About how long it takes to count the case in the way that its record was counted: good enough to tell which of two
 * cases is cheaper. INFINITY: it is not recorded.
 */
double assay_exact_price_ns(const struct assay_exact_baseline *b, const char *key);
/* About the steps of a call: its instructions, though one that repeats takes more. 0: not recorded, or not stepped. */
double assay_exact_price_steps(const struct assay_exact_baseline *b, const char *key);

/* ---- packet ---- */

/* A counted case as bytes, from one process of this program to another. */

/* Append @c, and how it ended, to @out; what there is no memory for is out->failed. */
void assay_exact_pack(const struct assay_exact_case *c, enum assay_exact_end end, struct assay_text *out);
/* ASSAY_EINTERNAL where @n bytes are no whole packet. Release @c in either case. */
int assay_exact_unpack(const char *bytes, size_t n, struct assay_exact_case *c, enum assay_exact_end *end,
		       struct assay_err *err);

/* ---- compare ---- */

/* Exact counts of both sides of a comparison: no clock, so no pairs and no controls. */

/*
 * ASSAY_EUSAGE when no case of @p is one that assay_exact_counting_all() says: to be asked before anything is measured.
 */
int assay_exact_compare_check(const struct assay_compare_plan *p, const struct assay_request *q, struct assay_err *err);

/*
 * A case that takes too many steps on either side is skipped on both, and the smaller ones that its bench names follow.
 * Count those cases into p->cmp.exact, each in a worker of either side. ASSAY_EINTERRUPTED when the watch says so: the
 * cases that were not counted by then say so. Not counted is
 * - what times have told already: a case that is lost or failed in a pair is left out, and one whose machine code is
 *   the same on both sides is skipped on both, with that reason;
 * - anything where nothing can be counted: every case is skipped with the reason;
 * - the base of a case that fails in the head. The base of one that is skipped in the head is kept where it can be
 *   counted;
 * - a case that the suite does not name for counts. Where counts alone are taken, it is skipped in the head with that
 *   reason if the policy requires anything of it, and left out otherwise.
 */
int assay_exact_compare(struct assay_compare_plan *p, const struct assay_request *q, const struct assay_watch *w,
			struct assay_err *err);

/* ---- gate ---- */

/* Exact counts in `assay gate` and `assay baseline`: the stored counts against the committed file. */

/* Judge stored counts by themselves. */
int assay_exact_gate_alone(struct assay_store *store, const struct assay_gate_request *q,
			   struct assay_gate_report *report, struct assay_err *err);
/*
 * Add the counts beside a timed run to its report. Where none are recorded for this build, nothing is added and a
 * warning says how to record them.
 */
int assay_exact_gate_beside(const struct assay_exact_run *run, const struct assay_policy *policy,
			    const struct assay_gate_request *q, const struct assay_watch *w,
			    struct assay_gate_report *report, struct assay_err *err);
/*
 * A run without counts: warn when the file has some of its cases, so that what is not judged is not taken for judged.
 */
int assay_exact_gate_none(const struct assay_run *run, const struct assay_gate_request *q, const struct assay_watch *w,
			  struct assay_err *err);
/*
 * Record the newest counts, or those beside q->run_id, in the file. With @prune no other cases stay in it. @out is
 * empty before.
 */
int assay_exact_baseline_update(struct assay_store *store, const struct assay_gate_request *q, bool prune,
				struct assay_baseline_update *out, struct assay_err *err);

#endif
