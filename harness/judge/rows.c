/* SPDX-License-Identifier: Apache-2.0 */
/* The array of rows grows by doubling. */
#include "judge/rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct assay_gate_case *assay_row_add(struct assay_gate_report *r, struct assay_row_name name, struct assay_err *err)
{
	struct assay_gate_case *c;

	/* full whenever their number is a power of two */
	if (!(r->n_cases & (r->n_cases - 1))) {
		c = realloc(r->cases, (r->n_cases ? 2 * r->n_cases : 1) * sizeof(*c));
		if (!c) {
			assay_err_set(err, ASSAY_ENOMEM, "out of memory judging '%s'", name.key);
			return NULL;
		}
		r->cases = c;
	}
	c = &r->cases[r->n_cases++];
	*c = (struct assay_gate_case){ .evidence = name.evidence, .verdict = ASSAY_PASS };
	snprintf(c->key, sizeof(c->key), "%s", name.key);
	snprintf(c->metric, sizeof(c->metric), "%s", name.metric);
	c->ratio = c->ci_lo = c->ci_hi = c->margin_frac = NAN;
	c->dropped_frac = c->smallest_detectable_frac = c->value = c->limit = NAN;
	return c;
}

int assay_row_say(struct assay_gate_report *r, struct assay_row_name name, enum assay_verdict verdict,
		  struct assay_err *err, const char *fmt, ...)
{
	struct assay_gate_case *c = assay_row_add(r, name, err);
	va_list ap;

	if (!c)
		return ASSAY_ENOMEM;
	c->verdict = verdict;
	va_start(ap, fmt);
	vsnprintf(c->reason, sizeof(c->reason), fmt, ap);
	va_end(ap);
	return 0;
}

void assay_row_note(struct assay_gate_case *c, const char *fmt, ...)
{
	size_t len = strlen(c->reason);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->reason + len, sizeof(c->reason) - len, fmt, ap);
	va_end(ap);
}

void assay_rows_sum(struct assay_gate_report *r, size_t first, bool strict)
{
	for (size_t i = first; i < r->n_cases; i++) {
		enum assay_verdict v = r->cases[i].verdict;

		r->verdict = i ? assay_verdict_worse(r->verdict, v) : v;
		r->exit = assay_exit_worse(i ? r->exit : ASSAY_EXIT_OK, assay_verdict_exit(v, strict));
	}
}

void assay_rows_fail_suspects(struct assay_gate_report *r)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (r->cases[i].suspect)
			r->exit = assay_exit_worse(r->exit, ASSAY_EXIT_INCONCLUSIVE);
}
