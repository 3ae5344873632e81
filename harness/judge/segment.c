/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/segment.h"

/* Runs that are in no position to judge each other. */
#define FOUNDERS 5
/* The machine moved when so many cases can say so, and this share of them moved in one direction. */
#define MACHINE_CASES 4
#define MACHINE_FRAC  0.75

static enum assay_verdict judge(struct assay_stored_points head, const struct assay_segment_window *base, double error,
				double margin_frac)
{
	struct assay_stored_compare c;

	if (!assay_stored_compare(head, (struct assay_stored_points){ base->v, base->n }, error, margin_frac, &c))
		return ASSAY_INCONCLUSIVE;
	return assay_stored_verdict(c.lo, c.hi, margin_frac);
}

void assay_segment_admit(struct assay_segment *s, const struct assay_stored_point *p, bool same_code, double error)
{
	struct assay_segment_window *w = &s->first;

	if (w->n == ASSAY_SEGMENT_RUNS)
		return;
	if (w->n >= FOUNDERS &&
	    judge((struct assay_stored_points){ p, 1 }, w, error, s->margin_frac) == ASSAY_REGRESSED)
		return;
	w->other_code |= !same_code;
	w->v[w->n++] = *p;
}

double assay_segment_error(const struct assay_segment *s, double error)
{
	return s->first.n && s->last.n ? error / 2 : error;
}

bool assay_segments_follow_machine(struct assay_segment *v, size_t n, double error)
{
	size_t asked = 0, moved[2] = { 0 };
	bool same_code[2] = { false };

	for (size_t i = 0; i < n; i++) {
		const struct assay_segment *s = &v[i];
		enum assay_verdict verdict;

		if (!s->first.n || !s->last.n)
			continue;
		asked++;
		verdict = judge((struct assay_stored_points){ s->last.v, s->last.n }, &s->first, error, s->margin_frac);
		if (verdict != ASSAY_REGRESSED && verdict != ASSAY_IMPROVED)
			continue;
		moved[verdict == ASSAY_REGRESSED]++;
		same_code[verdict == ASSAY_REGRESSED] |= !s->first.other_code && !s->last.other_code;
	}
	for (int k = 0; k < 2; k++) {
		if (asked < MACHINE_CASES || !same_code[k] || (double)moved[k] < MACHINE_FRAC * (double)asked)
			continue;
		for (size_t i = 0; i < n; i++)
			if (v[i].last.n)
				v[i].first.n = 0;
		return true;
	}
	return false;
}
