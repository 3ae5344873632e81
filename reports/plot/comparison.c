/* SPDX-License-Identifier: Apache-2.0 */
/* A row a case: its gravest verdict, the ratio that it rests on, and the margin around 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "reports/gate/words.h"
#include "reports/plot/parts.h"

/* Beyond this factor the axis is one of factors, not of per cent. */
#define WIDE 1.9

struct rows {
	const struct assay_gate_case **v;
	size_t n, n_left_out;
};

/* From the gravest to the mildest verdict: its place in the order of tables. */
static int severity(const struct assay_gate_case *c)
{
	int at = 0;

	while (at < ASSAY_N_VERDICTS - 1 && assay_gate_words_order[at] != c->verdict)
		at++;
	return at;
}

static bool is_time(const struct assay_gate_case *c)
{
	return !strcmp(c->metric, "time_s");
}

/* How far it lies from where it was; what has no number lies nowhere. */
static double distance(const struct assay_gate_case *c)
{
	return isfinite(c->ratio) && c->ratio > 0 ? fabs(log(c->ratio)) : -1;
}

/* Of several verdicts on a case: the gravest, then that of its time. */
static bool speaks_before(const struct assay_gate_case *a, const struct assay_gate_case *b)
{
	return severity(a) != severity(b) ? severity(a) < severity(b) : is_time(a) && !is_time(b);
}

static int by_severity(const void *x, const void *y)
{
	const struct assay_gate_case *a = *(const struct assay_gate_case *const *)x;
	const struct assay_gate_case *b = *(const struct assay_gate_case *const *)y;

	if (severity(a) != severity(b))
		return severity(a) - severity(b);
	if (distance(a) != distance(b))
		return distance(a) > distance(b) ? -1 : 1;
	return strcmp(a->key, b->key);
}

static int gather(const struct assay_gate_report *r, struct rows *rows, struct assay_err *err)
{
	struct assay_name_index names = { 0 };
	int rc = 0;

	rows->v = calloc(r->n_cases + 1, sizeof(*rows->v));
	if (!rows->v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the cases of a comparison");
	for (size_t i = 0; i < r->n_cases && !rc; i++) {
		bool found;
		size_t at;

		rc = assay_name_index_put(&names, r->cases[i].key, rows->n, &at, &found, err);
		if (rc)
			break;
		if (!found)
			rows->v[rows->n++] = &r->cases[i];
		else if (speaks_before(&r->cases[i], rows->v[at]))
			rows->v[at] = &r->cases[i];
	}
	assay_name_index_release(&names);
	if (!rc && !rows->n)
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "the comparison has no case to draw");
	if (rc)
		return rc;
	qsort(rows->v, rows->n, sizeof(*rows->v), by_severity);
	if (rows->n > ASSAY_PLOT_ROWS) {
		rows->n_left_out = rows->n - ASSAY_PLOT_ROWS;
		rows->n = ASSAY_PLOT_ROWS;
	}
	return 0;
}

/* The factors that the axis spans. Intervals may reach twice as far as the ratios; what is longer is cut there. */
static void find_range(const struct rows *rows, double *lo, double *hi)
{
	double far = log(1.01), margins = 0, ends = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct assay_gate_case *c = rows->v[i];

		far = fmax(far, distance(c));
		if (isfinite(c->margin_frac) && distance(c) >= 0)
			margins = fmax(margins, log1p(c->margin_frac));
		if (isfinite(c->ci_lo) && c->ci_lo > 0 && isfinite(c->ci_hi))
			ends = fmax(ends, fmax(fabs(log(c->ci_lo)), fabs(log(c->ci_hi))));
	}
	far = fmax(far, fmax(1.3 * margins, fmin(ends, 2 * far))) * 1.12;
	*lo = exp(-far);
	*hi = exp(far);
}

static void set_cases(struct assay_text *t, const struct rows *rows, bool wide)
{
	struct assay_plot_array names = { 0 }, changes = { 0 }, reasons = { 0 };

	assay_text_add(t, "$cases << END\n");
	for (size_t i = 0; i < rows->n; i++) {
		const struct assay_gate_case *c = rows->v[i];
		char name[ASSAY_KEY_MAX + ASSAY_METRIC_TAG_MAX + 8], reason[ASSAY_PLOT_TEXT];
		struct assay_gate_words words;
		bool known = distance(c) >= 0;
		double lo = known && isfinite(c->ci_lo) && c->ci_lo > 0 ? c->ci_lo : c->ratio;
		double hi = known && isfinite(c->ci_hi) ? c->ci_hi : c->ratio;
		double margin = known && isfinite(c->margin_frac) ? c->margin_frac : 0;
		/* as the axis has it: factors, or per cent */
		double at[5] = { c->ratio, lo, hi, 1 / (1 + margin), 1 + margin };

		for (size_t k = 0; k < 5 && !wide; k++)
			at[k] = 100 * (at[k] - 1);
		assay_gate_words_of(c, &words);
		if (known)
			assay_text_addf(t, "%zu %.9g %.9g %.9g %.9g %.9g %d\n", i + 1, at[0], at[1], at[2], at[3],
					at[4], severity(c) + 1);
		else
			assay_text_addf(t, "%zu NaN NaN NaN NaN NaN %d\n", i + 1, severity(c) + 1);
		snprintf(name, sizeof(name), "%s%s%s", c->key, is_time(c) || !c->metric[0] ? "" : " ",
			 is_time(c) ? "" : c->metric);
		assay_plot_add_row(&names, name, 58);
		assay_plot_array_add(&changes, words.change);
		assay_plot_fit(known ? "" : c->reason, 76, reason);
		assay_plot_array_add(&reasons, reason);
	}
	assay_text_add(t, "END\n");
	assay_plot_set_rows(t, &names);
	assay_plot_array_set(t, "CHANGE", &changes);
	assay_plot_array_set(t, "REASON", &reasons);
}

/* Those verdicts that there are, from the gravest on. */
static void set_verdicts(struct assay_text *t, const struct rows *rows)
{
	struct assay_plot_legend legend = { .left = 24 };
	size_t n[ASSAY_N_VERDICTS] = { 0 };
	char word[ASSAY_VERDICT_MAX + 24];

	for (size_t i = 0; i < rows->n; i++)
		n[severity(rows->v[i])]++;
	for (int i = 0; i < ASSAY_N_VERDICTS; i++) {
		if (!n[i])
			continue;
		snprintf(word, sizeof(word), "%zu %s", n[i], assay_verdict_name(assay_gate_words_order[i]));
		assay_plot_legend_add(&legend, word, i + 1);
	}
	assay_plot_set_legend(t, &legend);
}

static void describe(const struct assay_plot_comparison *s, const struct rows *rows, char *title, char *below,
		     size_t size)
{
	const struct assay_gate_report *r = s->gate;
	char base[ASSAY_PLOT_TEXT], head[ASSAY_PLOT_TEXT];
	int n;

	if (r->comparison_id)
		snprintf(title, size, "comparison %lld: %s", (long long)r->comparison_id,
			 assay_verdict_name(r->verdict));
	else
		snprintf(title, size, "gate: %s", assay_verdict_name(r->verdict));
	assay_plot_fit(r->base[0] ? r->base : "no baseline", 44, base);
	assay_plot_fit(r->head, 44, head);
	n = snprintf(below, size, "head: %s; base: %s. %zu case%s", head, base, rows->n + rows->n_left_out,
		     rows->n + rows->n_left_out == 1 ? "" : "s");
	if (rows->n_left_out && n > 0 && (size_t)n < size)
		n += snprintf(below + n, size - (size_t)n, ", the %zu least severe left out", rows->n_left_out);
	if (r->untrusted && n > 0 && (size_t)n < size)
		snprintf(below + n, size - (size_t)n, "; a self-check failed, so no verdict by time stands");
}

int assay_plot_comparison_data(const struct assay_plot *p, struct assay_text *t, struct assay_err *err)
{
	const struct assay_plot_comparison *s = &p->comparison;
	struct rows rows = { 0 };
	char title[ASSAY_PLOT_TEXT], below[ASSAY_PLOT_TEXT];
	unsigned top, height;
	double lo, hi;
	bool wide;
	int rc = gather(s->gate, &rows, err);

	if (!rc) {
		describe(s, &rows, title, below, sizeof(title));
		top = assay_plot_set_head(t, title, below) + 34;
		find_range(&rows, &lo, &hi);
		wide = hi > WIDE;
		set_cases(t, &rows, wide);
		set_verdicts(t, &rows);
		height = assay_plot_row_height(rows.n) * (unsigned)rows.n;
		assay_text_addf(t, "WIDE = %d\nXLO = %.9g\nXHI = %.9g\nTOP = %u\nBOTTOM = 58\n", wide,
				wide ? lo : 100 * (lo - 1), wide ? hi : 100 * (hi - 1), top);
		assay_text_addf(t, "WIDTH = %d\nHEIGHT = %u\n", ASSAY_PLOT_WIDTH, top + height + 58);
	}
	free(rows.v);
	return rc;
}
