/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a case for people, for scripts and for spreadsheets. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/json_parts.h"
#include "reports/text_parts.h"

static void commit_text(const struct assay_trend_point *p, char *buf, size_t size)
{
	bool dirty;
	const char *commit = assay_trend_commit(p, &dirty);

	snprintf(buf, size, "%.12s%s", commit[0] ? commit : "-", commit[0] && dirty ? "+" : "");
}

static void change_text(const struct assay_case_history *h, const struct assay_trend_change *c, struct assay_text *out)
{
	char before[24], after[24];

	commit_text(&h->points[c->at - 1], before, sizeof(before));
	commit_text(&h->points[c->at], after, sizeof(after));
	assay_text_addf(out,
			"%+.1f %% (95 %%: %+.1f to %+.1f %%) from run %" PRId64 " (%s) to run %" PRId64
			" (%s): p %.2g, %zu runs before, %zu after",
			100 * (c->ratio - 1), 100 * (c->ci_lo - 1), 100 * (c->ci_hi - 1), h->points[c->at - 1].run_id,
			before, h->points[c->at].run_id, after, c->p, c->at - c->from, c->to - c->at);
	if (c->of_machine)
		assay_text_addf(out, "; the machine changed: so did %zu of %zu other cases", c->n_moved, c->n_others);
	if (c->why[0])
		assay_text_addf(out, "\n  %s: %s",
				c->confirmed == ASSAY_CONFIRMED       ? "confirmed"
				: c->confirmed == ASSAY_NOT_CONFIRMED ? "not confirmed"
								      : "could not be confirmed",
				c->why);
	assay_text_add(out, "\n");
}

static void write_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_case_history *h = r->history;
	struct assay_columns t = { .align = "rllrr", .width = style->width };

	assay_text_addf(out, "%s\n%s\n\n", h->c.key, h->machine_label);
	assay_columns_row(&t, (const char *const[]){ "run", "started", "commit", "median", "95 %" });
	for (size_t i = 0; i < h->n_points; i++) {
		const struct assay_trend_point *p = &h->points[i];
		char id[24], when[32], commit[24], median[32], half[32] = "";

		snprintf(id, sizeof(id), "%" PRId64, p->run_id);
		assay_when_text(p->started_ns, when, sizeof(when));
		if (p->started_unknown)
			snprintf(when, sizeof(when), "unknown");
		commit_text(p, commit, sizeof(commit));
		assay_quantity_text(p->median_ns * 1e-9, "s", style->utf8, median, sizeof(median));
		if (isfinite(p->ci95_lo_ns))
			snprintf(half, sizeof(half), "%s%.1f %%", style->utf8 ? "±" : "+-",
				 50 * (p->ci95_hi_ns - p->ci95_lo_ns) / p->median_ns);
		assay_columns_row(&t, (const char *const[]){ id, when, commit, median, half });
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	if (h->n_points < h->least_points)
		assay_text_addf(out, "\n%zu %s: at least %zu are needed to find change points\n", h->n_points,
				h->n_points == 1 ? "run" : "runs", h->least_points);
	else
		assay_text_addf(out, "\n%s\n",
				!h->n_changes ? "no change points found"
					      : "change points, candidates until --confirm confirms them:");
	for (size_t i = 0; i < h->n_changes; i++)
		change_text(h, &h->changes[i], out);
	if (h->n_points >= h->least_points && !h->least_level)
		assay_text_addf(out, "%zu runs are too few to show a change of any size\n", h->n_points);
	else if (h->n_points >= h->least_points && h->takes_turns)
		assay_text_add(out,
			       "the times switch back and forth between the same levels, as those of a machine that "
			       "changes its state do: no level is reported as a change\n");
	else if (h->n_points >= h->least_points)
		assay_text_addf(out, "a level shorter than %zu runs is not reported: it could be noise\n",
				h->least_level);
}

static json_t *point_json(const struct assay_trend_point *p)
{
	bool dirty;
	const char *commit = assay_trend_commit(p, &dirty);

	return json_pack("{s:I,s:o,s:b,s:o,s:o,s:o}", "run", (json_int_t)p->run_id, "commit", assay_json_text(commit),
			 "dirty", dirty, "started", p->started_unknown ? json_null() : assay_json_time(p->started_ns),
			 "median_ns", assay_json_number(p->median_ns), "ci95_ns",
			 isfinite(p->ci95_lo_ns) ? json_pack("[o,o]", assay_json_number(p->ci95_lo_ns),
							     assay_json_number(p->ci95_hi_ns))
						 : json_null());
}

static json_t *change_json(const struct assay_case_history *h, const struct assay_trend_change *c)
{
	const struct assay_trend_point *before = &h->points[c->at - 1], *after = &h->points[c->at];
	bool dirty;

	return json_pack("{s:o,s:o,s:I,s:I,s:o,s:[o,o],s:o,s:I,s:I,s:s,s:{s:I,s:I},s:o,s:o,s:o}", "from_commit",
			 assay_json_text(assay_trend_commit(before, &dirty)), "to_commit",
			 assay_json_text(assay_trend_commit(after, &dirty)), "from_run", (json_int_t)before->run_id,
			 "to_run", (json_int_t)after->run_id, "ratio", assay_json_number(c->ratio), "ci",
			 assay_json_number(c->ci_lo), assay_json_number(c->ci_hi), "p", assay_json_number(c->p),
			 "runs_before", (json_int_t)(c->at - c->from), "runs_after", (json_int_t)(c->to - c->at),
			 "event", c->of_machine ? "machine" : "case", "others", "moved", (json_int_t)c->n_moved, "of",
			 (json_int_t)c->n_others, "confirmed",
			 c->confirmed == ASSAY_NOT_ASKED ? json_null() : json_boolean(c->confirmed == ASSAY_CONFIRMED),
			 "reason", assay_json_text(c->why), "comparison",
			 c->comparison_id ? json_integer((json_int_t)c->comparison_id) : json_null());
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_case_history *h = r->history;
	json_t *points = json_array(), *changes = json_array();

	(void)style;
	for (size_t i = 0; i < h->n_points; i++)
		json_array_append_new(points, point_json(&h->points[i]));
	for (size_t i = 0; i < h->n_changes; i++)
		json_array_append_new(changes, change_json(h, &h->changes[i]));
	assay_json_print(json_pack("{s:i,s:o,s:o,s:o,s:o,s:o,s:b}", "schema", 1, "case", assay_json_text(h->c.key),
				   "machine", assay_json_text(h->machine_label), "points", points, "changes", changes,
				   "least_level_runs",
				   h->least_level ? json_integer((json_int_t)h->least_level) : json_null(),
				   "levels_alternate", h->takes_turns),
			 out);
}

/* A row a run; of the first one behind a change also what the change is. */
static void write_csv(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_case_history *h = r->history;
	size_t next = 0;

	(void)style;
	assay_text_add(out, "run,commit,dirty,started_ns,median_ns,ci95_lo_ns,ci95_hi_ns,change_ratio,change_lo,"
			    "change_hi,change_p\n");
	for (size_t i = 0; i < h->n_points; i++) {
		const struct assay_trend_point *p = &h->points[i];
		bool dirty;

		assay_text_addf(out, "%" PRId64 ",", p->run_id);
		assay_csv_add(out, assay_trend_commit(p, &dirty));
		assay_text_addf(out, ",%d,", dirty);
		if (!p->started_unknown)
			assay_text_addf(out, "%" PRIu64, p->started_ns);
		assay_text_addf(out, ",%.9g,", p->median_ns);
		if (isfinite(p->ci95_lo_ns))
			assay_text_addf(out, "%.9g,%.9g,", p->ci95_lo_ns, p->ci95_hi_ns);
		else
			assay_text_add(out, ",,");
		if (next < h->n_changes && h->changes[next].at == i) {
			const struct assay_trend_change *c = &h->changes[next++];

			assay_text_addf(out, "%.6g,%.6g,%.6g,%.3g\n", c->ratio, c->ci_lo, c->ci_hi, c->p);
		} else {
			assay_text_add(out, ",,,\n");
		}
	}
}

ASSAY_EMITTER(changes_text, ASSAY_REPORT_CHANGES, "text", write_text);
ASSAY_EMITTER(changes_json, ASSAY_REPORT_CHANGES, "json", write_json);
ASSAY_EMITTER(changes_csv, ASSAY_REPORT_CHANGES, "csv", write_csv);
