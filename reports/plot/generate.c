/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where generation spends its time: prefill and decode, the parts of the model, and how long one token takes. A row a
 * case; what a case does not report stays empty.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/plot/parts.h"
#include "reports/run/parts.h"

static const char *const phases[] = { "time_embedding_frac", "time_attention_frac", "time_ffn_frac", "time_head_frac",
				      "time_sampling_frac" };
#define N_PHASES (sizeof(phases) / sizeof(phases[0]))

static double metric(const struct assay_result *r, const char *tag)
{
	return assay_run_cells_metric(r, tag);
}

static double count(const struct assay_result *r, const char *name)
{
	const struct assay_count *c = assay_counters_find(&r->counters, name);

	return c ? c->value : NAN;
}

static bool generates(const struct assay_result *r)
{
	return assay_run_cells_measured(r) &&
	       (isfinite(metric(r, phases[1])) || isfinite(metric(r, "ttft_s")) || isfinite(metric(r, "tpot_p50_s")));
}

/*
 * The share of prefill in an iteration: what remains beside the steps that decoded a token each. Steps are counts of
 * the op; a case without decoding steps is all prefill, one without prefill steps all decoding.
 */
static double prefill_share(const struct assay_result *r)
{
	double prefills = count(r, "prefill_steps"), decodes = count(r, "decode_steps");
	double token_s = metric(r, "tpot_mean_s");

	if (!isfinite(prefills) || !isfinite(decodes) || !(prefills + decodes > 0))
		return NAN;
	if (!(decodes > 0) || !(prefills > 0))
		return decodes > 0 ? 0 : 1;
	return isfinite(token_s) ? fmin(1, fmax(0, 1 - decodes * token_s / (r->median_ns * 1e-9))) : NAN;
}

static double or_nothing(double v)
{
	return isfinite(v) ? v : NAN;
}

struct range {
	double lo, hi;
};

static void widen(struct range *r, double v)
{
	if (v > 0) {
		r->lo = fmin(r->lo, v);
		r->hi = fmax(r->hi, v);
	}
}

static const char *const latencies[] = { "tpot_p50_s", "tpot_p95_s", "tpot_p99_s", "ttft_s" };
#define N_LATENCIES (sizeof(latencies) / sizeof(latencies[0]))

static void set_case(struct assay_text *t, const struct assay_result *r, size_t row, double factor)
{
	double sum = 0;

	assay_text_addf(t, "%zu %.6g", row, or_nothing(100 * prefill_share(r)));
	for (size_t i = 0; i < N_PHASES; i++) {
		double v = metric(r, phases[i]);

		sum += isfinite(v) ? 100 * v : 0;
		assay_text_addf(t, " %.6g", isfinite(v) ? sum : NAN);
	}
	for (size_t i = 0; i < N_LATENCIES; i++)
		assay_text_addf(t, " %.9g", or_nothing(metric(r, latencies[i])) / factor);
	assay_text_add(t, "\n");
}

/* The key without those axes that are the same in all cases of the op. */
static void name_case(const struct assay_run *run, const struct assay_case *c, char *buf, size_t size)
{
	char shape[ASSAY_SHAPE_MAX];

	assay_run_cells_shape(run, c, false, shape, sizeof(shape));
	snprintf(buf, size, "%s/%s%s%s/t=%u", c->op, c->variant, shape[0] ? "/" : "", shape, c->threads);
}

/* The slowest first. */
static int by_time(const void *a, const void *b)
{
	const struct assay_result *x = *(const struct assay_result *const *)a,
				  *y = *(const struct assay_result *const *)b;

	return x->median_ns != y->median_ns ? (x->median_ns < y->median_ns ? 1 : -1) : strcmp(x->c.key, y->c.key);
}

static void set_cases(struct assay_text *t, const struct assay_run *run, const struct assay_result **v, size_t n,
		      const struct assay_plot_unit *unit)
{
	struct assay_plot_array names = { 0 }, times = { 0 };
	char time[64], name[ASSAY_KEY_MAX + ASSAY_SHAPE_MAX];

	assay_text_add(t, "$cases << END\n");
	for (size_t i = 0; i < n; i++) {
		const struct assay_result *r = v[i];

		set_case(t, r, names.n + 1, unit->factor);
		name_case(run, &r->c, name, sizeof(name));
		assay_plot_add_row(&names, name, 44);
		assay_quantity_text(r->median_ns * 1e-9, "s", true, time, sizeof(time));
		assay_plot_array_add(&times, time);
	}
	assay_text_add(t, "END\n");
	assay_plot_set_rows(t, &names);
	assay_plot_array_set(t, "TIME", &times);
}

int assay_plot_generate_data(const struct assay_plot *p, struct assay_text *t, struct assay_err *err)
{
	const struct assay_run *run = p->run.run;
	const struct assay_result **v = calloc(run->n_results + 1, sizeof(*v));
	struct range range = { INFINITY, -INFINITY };
	struct assay_plot_unit unit;
	char title[64], below[256];
	size_t n = 0;
	unsigned top;

	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the cases of a plot");
	for (size_t i = 0; i < run->n_results; i++) {
		if (generates(&run->results[i]))
			v[n++] = &run->results[i];
		for (size_t k = 0; k < N_LATENCIES && generates(&run->results[i]); k++)
			widen(&range, metric(&run->results[i], latencies[k]));
	}
	if (!n) {
		free(v);
		return assay_err_set(
			err, ASSAY_ENOTFOUND,
			"run %lld has no case that generates: 'assay run --only \"generate.*\"' measures some",
			(long long)run->id);
	}
	qsort(v, n, sizeof(*v), by_time);
	if (!(range.lo <= range.hi))
		range = (struct range){ 1e-6, 1e-3 };
	unit = assay_plot_unit("time_s", "s", sqrt(range.lo * range.hi));
	snprintf(title, sizeof(title), "generation in run %lld", (long long)run->id);
	snprintf(below, sizeof(below), "%.120s. %zu case%s%s", run->machine.label, n, n == 1 ? "" : "s",
		 n > ASSAY_PLOT_ROWS ? ", the slowest 300 are drawn" : "");
	top = assay_plot_set_head(t, title, below) + 76;
	n = n > ASSAY_PLOT_ROWS ? ASSAY_PLOT_ROWS : n;
	set_cases(t, run, v, n, &unit);
	free(v);
	assay_plot_set_ticks(
		t, "XTICK",
		&(struct assay_plot_scale){ "time_s", "s", range.lo / 1.5, range.hi * 1.5, unit.factor, true, 4 });
	assay_text_addf(t, "XLO = %.9g\nXHI = %.9g\nTOP = %u\nBOTTOM = 40\n", range.lo / 1.5 / unit.factor,
			range.hi * 1.5 / unit.factor, top);
	assay_text_addf(t, "WIDTH = %d\nHEIGHT = %u\n", ASSAY_PLOT_WIDTH,
			top + assay_plot_row_height(n) * (unsigned)n + 40);
	return 0;
}
