/* SPDX-License-Identifier: Apache-2.0 */
/* The lines below the table of a run: how many cases ended how, and in one line a reason what cannot be told. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/summary.h"
#include "reports/run/parts.h"
#include "reports/text_parts.h"

/* Reasons that get a line each. */
#define REASONS_SHOWN 3

/* The reason of item @i, or NULL where it has none to tell. */
typedef const char *reason_fn(const struct assay_run *run, size_t i);

static const char *skip_reason(const struct assay_run *run, size_t i)
{
	return run->results[i].status == ASSAY_STATUS_SKIPPED ? run->results[i].reason : NULL;
}

static const char *count_reason(const struct assay_run *run, size_t i)
{
	const struct assay_exact_case *c = &run->exact->cases[i];

	if (c->status == ASSAY_STATUS_OK || assay_exact_is_replaced(c) || assay_exact_is_on_device(c) ||
	    assay_exact_is_unnamed(c))
		return NULL;
	return c->reason;
}

static size_t times_told(const struct assay_run *run, reason_fn *reason, size_t n, const char *why)
{
	size_t times = 0;

	for (size_t i = 0; i < n; i++)
		times += reason(run, i) && !strcmp(reason(run, i), why);
	return times;
}

/* One line a reason, with its number, for the first few of them. */
static void add_reasons(const struct assay_run *run, const struct assay_emit_style *style, const char *name,
			reason_fn *reason, size_t n, struct assay_text *out)
{
	size_t lines = 0, left = 0;
	char text[640];

	for (size_t i = 0; i < n; i++) {
		const char *why = reason(run, i);

		if (!why || times_told(run, reason, i, why))
			continue;
		if (lines == REASONS_SHOWN) {
			left += times_told(run, reason, n, why);
			continue;
		}
		snprintf(text, sizeof(text), "%zu: %s", times_told(run, reason, n, why), why);
		assay_named_line(out, style, lines++ ? "" : name, text);
	}
	snprintf(text, sizeof(text), "%zu for other reasons: -v shows all", left);
	if (left)
		assay_named_line(out, style, "", text);
}

static void add_counted(const struct assay_run *run, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_exact_run *exact = run->exact;
	struct assay_exact_sums sums;
	char text[160];
	size_t n;

	if (!exact || !exact->n_cases)
		return;
	sums = assay_exact_run_sums(exact);
	n = (size_t)snprintf(text, sizeof(text), "%zu of %zu cases counted exactly", sums.ok, sums.owed);
	if (sums.smaller)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", smaller shapes for %zu", sums.smaller);
	if (sums.device)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", %zu more on devices", sums.device);
	if (sums.unable)
		snprintf(text + n, sizeof(text) - n, ", %zu more that do not run here", sums.unable);
	assay_named_line(out, style, "counts", text);
	add_reasons(run, style, "", count_reason, exact->n_cases, out);
}

/* The table shows the best cases alone, and these may be others. */
static void add_deviations(const struct assay_run *run, const struct assay_emit_style *style, struct assay_text *out)
{
	char edges[ASSAY_EDGES_MAX], text[160];
	unsigned all = 0;
	size_t n = 0;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		if (r->status != ASSAY_STATUS_OK || !r->deviation.edges)
			continue;
		all |= r->deviation.edges;
		n++;
	}
	if (!n)
		return;
	snprintf(text, sizeof(text), "%zu case%s on %s, and only there%s", n, n == 1 ? " deviates" : "s deviate",
		 assay_edges_text(all, edges, sizeof(edges)), style->verbose ? "" : "; -v shows which");
	assay_named_line(out, style, "edges", text);
}

static void add_statuses(const struct assay_run *run, const struct assay_emit_style *style, struct assay_text *out)
{
	size_t count[ASSAY_N_STATUS] = { 0 };
	bool first = true;

	for (size_t i = 0; i < run->n_results; i++)
		count[run->results[i].status]++;
	for (int s = 0; s < ASSAY_N_STATUS; s++) {
		const char *colour = s == ASSAY_STATUS_OK        ? ASSAY_GREEN
				     : s == ASSAY_STATUS_SKIPPED ? ASSAY_YELLOW
								 : ASSAY_RED;

		if (!count[s] && s != ASSAY_STATUS_OK)
			continue;
		assay_text_addf(out, "%s%s%zu %s%s", first ? "" : ", ", assay_paint(style, count[s] ? colour : ""),
				count[s], assay_status_name((enum assay_status)s), assay_paint(style, ASSAY_RESET));
		first = false;
	}
	if (run->ended_ns > run->started_ns)
		assay_text_addf(out, " in %.0f s", (double)(run->ended_ns - run->started_ns) * 1e-9);
	assay_text_add(out, "\n");
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Half the width of the interval of the middle case, as a share of its time. */
static double middle_half(const struct assay_run *run, struct assay_text *out)
{
	double *half = malloc((run->n_results + 1) * sizeof(*half)), middle = NAN;
	size_t n = 0;

	out->failed |= !half;
	for (size_t i = 0; i < run->n_results && half; i++) {
		const struct assay_result *r = &run->results[i];

		if (assay_run_cells_measured(r) && r->ci95_reached)
			half[n++] = assay_summary_half_width_frac(r);
	}
	if (n) {
		qsort(half, n, sizeof(*half), ascending);
		middle = half[n / 2];
	}
	free(half);
	return middle;
}

static bool has_fixed_work(const struct assay_run *run)
{
	for (size_t i = 0; i < run->n_environment; i++)
		if (!strcmp(run->environment[i].name, "deterministic"))
			return true;
	return false;
}

/* Append "12 on slow cores" to @text at @at; how much that is. */
static size_t add_number(char *text, size_t size, size_t at, size_t n, const char *what)
{
	return n ? (size_t)snprintf(text + at, size - at, "%s%zu %s", at ? ", " : "", n, what) : 0;
}

/* Name the uncertain results, the reasons, and remedies. With fixed work an interval is what it is. */
static void add_doubts(const struct assay_run *run, const struct assay_emit_style *style, struct assay_text *out)
{
	size_t n = 0, wide = 0, alone = 0, unsteady = 0, slow = 0, disturbed = 0;
	const char *name = "unsure";
	char text[320];

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		if (!assay_run_cells_measured(r))
			continue;
		n++;
		wide += r->ci95_reached && !r->converged;
		alone += !r->ci95_reached;
		unsteady += !r->steady;
		slow += r->slow_core;
		disturbed += r->disturbed;
	}
	if (has_fixed_work(run))
		return;
	if (wide && assay_run_is_imported(run)) {
		snprintf(text, sizeof(text),
			 "%zu of %zu cases have an interval wider than 0.5 %%; the median of all is %.1f %%", wide,
			 n - alone, 100 * middle_half(run, out));
		assay_named_line(out, style, name, text);
	} else if (wide) {
		snprintf(
			text, sizeof(text),
			"%zu of %zu case%s %s an interval wider than 0.5 %%, the median of all is %.1f %%: --budget or "
			"--rounds narrows it",
			wide, n - alone, n - alone == 1 ? "" : "s", n - alone == 1 ? "has" : "have",
			100 * middle_half(run, out));
		assay_named_line(out, style, name, text);
		name = "";
	}
	if (alone && !assay_run_is_imported(run)) {
		snprintf(text, sizeof(text),
			 "%zu of %zu case%s %s no interval: one process took all samples, or too few agree", alone, n,
			 n == 1 ? "" : "s", alone == 1 ? "has" : "have");
		assay_named_line(out, style, name, text);
		name = "";
	}
	if (unsteady || slow || disturbed) {
		size_t at = 0;

		at += add_number(text, sizeof(text), at, unsteady, "did not settle");
		at += add_number(text, sizeof(text), at, slow, "on slow cores");
		at += add_number(text, sizeof(text), at, disturbed, "mostly disturbed");
		snprintf(text + at, sizeof(text) - at, ": 'assay doctor' says what disturbs this machine");
		assay_named_line(out, style, name, text);
	}
}

void assay_run_summary_text(const struct assay_report_run *r, const struct assay_emit_style *style,
			    struct assay_text *out)
{
	add_statuses(r->run, style, out);
	add_deviations(r->run, style, out);
	if (r->brief) {
		add_reasons(r->run, style, "skipped", skip_reason, r->run->n_results, out);
		add_counted(r->run, style, out);
	}
	add_doubts(r->run, style, out);
}
