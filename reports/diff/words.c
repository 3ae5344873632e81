/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/diff/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/gate/words.h"
#include "reports/text_parts.h"

static void metric_words(const struct assay_report_diff *d, const struct assay_diff_case *c, bool utf8,
			 struct assay_diff_words *out)
{
	const struct assay_diff_number *m = assay_diff_number(c, d->metric);

	for (int s = 0; s < 2 && m; s++)
		if (isfinite(m->value[s]))
			assay_metric_text(m->name, m->value[s], m->unit, utf8, out->value[s], sizeof(out->value[s]));
	if (m && m->value[0] > 0 && isfinite(m->value[1]))
		assay_gate_words_change(m->value[1] / m->value[0], true, out->speedup, sizeof(out->speedup));
}

/* "1.93x"; three decimals where two would hide the change. */
static void times_text(double ratio, char *buf, size_t size)
{
	if (fabs(ratio - 1) < 0.05)
		snprintf(buf, size, "%.3fx", 1 / ratio);
	else
		assay_gate_words_times(ratio, buf, size);
}

static void time_words(const struct assay_diff_case *c, bool utf8, struct assay_diff_words *out)
{
	char lo[32], hi[32];

	for (int s = 0; s < 2; s++)
		if (isfinite(c->ns[s]))
			assay_quantity_text(c->ns[s] * 1e-9, "s", utf8, out->value[s], sizeof(out->value[s]));
	times_text(c->ratio, out->speedup, sizeof(out->speedup));
	/* the bounds of a speed-up change places */
	times_text(c->hi, lo, sizeof(lo));
	times_text(c->lo, hi, sizeof(hi));
	if (lo[0] && hi[0])
		snprintf(out->interval, sizeof(out->interval), "%s to %s", lo, hi);
}

static void roof_words(const struct assay_diff_case *c, struct assay_diff_words *out)
{
	const struct assay_diff_number *m = assay_diff_number(c, "roof_frac");
	char share[2][32] = { "-", "-" };

	for (int s = 0; s < 2 && m; s++)
		if (isfinite(m->value[s]))
			assay_metric_text(m->name, m->value[s], m->unit, true, share[s], sizeof(share[s]));
	if (m)
		snprintf(out->roof, sizeof(out->roof), "%s to %s", share[0], share[1]);
}

void assay_diff_words_of(const struct assay_report_diff *d, const struct assay_diff_case *c, bool utf8,
			 struct assay_diff_words *out)
{
	*out = (struct assay_diff_words){ 0 };
	snprintf(out->result, sizeof(out->result), "%s", assay_diff_result_name(c->result));
	for (char *p = out->result; *p; p++)
		if (*p == '_')
			*p = ' ';
	snprintf(out->base_variant, sizeof(out->base_variant), "%s", c->base_variant);
	if (d->metric) {
		/* which tells of the time */
		if (assay_diff_compared(c))
			out->result[0] = '\0';
		metric_words(d, c, utf8, out);
		return;
	}
	time_words(c, utf8, out);
	roof_words(c, out);
}

void assay_diff_words_side(const struct assay_diff_side *s, char *buf, size_t size)
{
	char build[128], when[32];

	assay_build_text(&s->build, build, sizeof(build));
	assay_when_text(s->started_ns, when, sizeof(when));
	snprintf(buf, size, "%s (%s), %s", s->name, build, when);
}

void assay_diff_words_counts(const struct assay_diff *d, struct assay_text *out)
{
	const char *between = ": ";

	if (!d->n_cases) {
		assay_text_add(out, d->by_variant ? "nothing to compare: no shape has two variants"
						  : "nothing to compare: neither side has a case");
		return;
	}
	assay_text_addf(out, "%zu case%s", d->n_cases, d->n_cases == 1 ? "" : "s");
	for (int i = 0; i < ASSAY_N_DIFF_RESULTS; i++) {
		static const char *const words[ASSAY_N_DIFF_RESULTS] = {
			[ASSAY_DIFF_FASTER] = "faster",
			[ASSAY_DIFF_SLOWER] = "slower",
			[ASSAY_DIFF_MACHINE] = "moved by the machine",
			[ASSAY_DIFF_UNCLEAR] = "unclear",
			[ASSAY_DIFF_INCOMPARABLE] = "INCOMPARABLE",
			[ASSAY_DIFF_NOT_MEASURED] = "not measured",
			[ASSAY_DIFF_SKIPPED] = "skipped",
			[ASSAY_DIFF_ONLY_BASE] = "only in the base",
			[ASSAY_DIFF_ONLY_HEAD] = "only in the head",
		};
		size_t n = assay_diff_count(d, (enum assay_diff_result)i);

		if (!n)
			continue;
		assay_text_addf(out, "%s%zu %s", between, n, words[i]);
		between = ", ";
	}
}

void assay_diff_words_controls(const struct assay_diff *d, char *buf, size_t size)
{
	buf[0] = '\0';
	if (d->n_same_code_moved)
		snprintf(buf, size,
			 "%zu of %zu cases whose machine code is the same on both sides moved all the same, by up to "
			 "%.1f %%: the machine changed, and changes of that size say nothing about a program",
			 d->n_same_code_moved, d->n_same_code, 100 * (d->same_code_most - 1));
}

void assay_diff_words_machine(const struct assay_diff *d, struct assay_text *out)
{
	const struct assay_diff_side *b = &d->side[ASSAY_DIFF_BASE], *h = &d->side[ASSAY_DIFF_HEAD];

	if (!strcmp(b->machine_id, h->machine_id))
		assay_text_add(out, h->machine_label);
	else
		assay_text_addf(out, "base %s (%.8s), head %s (%.8s): times of two machines are INCOMPARABLE",
				b->machine_label, b->machine_id, h->machine_label, h->machine_id);
}
