/* SPDX-License-Identifier: Apache-2.0 */
/* The commit that changed a time, for people and for scripts. */
#include <math.h>
#include <stdio.h>

#include "reports/json_parts.h"
#include "reports/text_parts.h"

/* A ratio without an interval is not shown: nobody knows how far it may be off. */
static bool has_interval(double ratio, double lo, double hi)
{
	return isfinite(ratio) && isfinite(lo) && isfinite(hi);
}

static void add_change(struct assay_text *out, double ratio, double lo, double hi)
{
	assay_text_addf(out, "%+.2f %% (%+.2f to %+.2f %%)", 100 * (ratio - 1), 100 * (lo - 1), 100 * (hi - 1));
}

/* The steps were told while they were done. */
static void write_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_bisect_report *b = r->bisection;
	bool whole = has_interval(b->whole_ratio, b->whole_ci_lo, b->whole_ci_hi);
	bool placed = b->end == ASSAY_BISECT_FOUND || b->end == ASSAY_BISECT_RANGE;

	assay_text_addf(out, "%s\n", b->key);
	if (b->end == ASSAY_BISECT_FOUND)
		assay_text_addf(out, "%sfound: %s%s %s\n", assay_paint(style, ASSAY_BOLD), b->commit,
				assay_paint(style, ASSAY_RESET), b->subject);
	else
		assay_text_addf(out, "no single commit: %s\n", b->reason);
	if (placed && has_interval(b->ratio, b->ci_lo, b->ci_hi)) {
		add_change(out, b->ratio, b->ci_lo, b->ci_hi);
		assay_text_addf(out, " against %.12s; ", b->before);
	}
	if (whole) {
		assay_text_add(out, "from good to bad ");
		add_change(out, b->whole_ratio, b->whole_ci_lo, b->whole_ci_hi);
		assay_text_add(out, "; ");
	}
	assay_text_addf(out, "%u comparison%s, %zu commit%s\n", b->comparisons, b->comparisons == 1 ? "" : "s",
			b->n_commits, b->n_commits == 1 ? "" : "s");
}

static json_t *interval(double lo, double hi)
{
	return isfinite(lo) ? json_pack("[o,o]", assay_json_number(lo), assay_json_number(hi)) : json_null();
}

static json_t *step_json(const struct assay_bisect_step *s)
{
	return json_pack("{s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o}", "base", assay_json_text(s->base), "commit",
			 assay_json_text(s->commit), "skipped", s->skipped, "verdict",
			 s->skipped ? json_null() : assay_json_text(assay_verdict_name(s->verdict)), "ratio",
			 assay_json_number(s->ratio), "ci", interval(s->ci_lo, s->ci_hi), "comparison",
			 s->comparison_id ? json_integer((json_int_t)s->comparison_id) : json_null(), "reason",
			 assay_json_text(s->reason));
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_bisect_report *b = r->bisection;
	bool found = b->end == ASSAY_BISECT_FOUND, placed = found || b->end == ASSAY_BISECT_RANGE;
	json_t *steps = json_array(), *j;

	(void)style;
	for (size_t i = 0; i < b->n_steps; i++)
		json_array_append_new(steps, step_json(&b->steps[i]));
	j = json_pack("{s:i,s:i,s:s,s:o,s:o,s:o,s:o,s:o,s:i,s:o,s:o,s:o}", "schema", 1, "exit", (int)b->exit, "end",
		      assay_bisect_end_name(b->end), "case", assay_json_text(b->key), "commit",
		      found ? assay_json_text(b->commit) : json_null(), "subject",
		      found ? assay_json_text(b->subject) : json_null(), "ratio",
		      assay_json_number(placed ? b->ratio : NAN), "ci",
		      placed ? interval(b->ci_lo, b->ci_hi) : json_null(), "comparisons", (int)b->comparisons, "reason",
		      assay_json_text(b->reason), "good", assay_json_text(b->good), "bad", assay_json_text(b->bad));
	json_object_set_new(j, "commits", json_integer((json_int_t)b->n_commits));
	json_object_set_new(j, "before", assay_json_text(b->before));
	json_object_set_new(j, "range",
			    b->commit[0] ? json_pack("[o,o]", assay_json_text(b->first), assay_json_text(b->commit))
					 : json_null());
	json_object_set_new(j, "whole",
			    json_pack("{s:o,s:o}", "ratio", assay_json_number(b->whole_ratio), "ci",
				      interval(b->whole_ci_lo, b->whole_ci_hi)));
	json_object_set_new(j, "steps", steps);
	assay_json_print(j, out);
}

ASSAY_EMITTER(bisection_text, ASSAY_REPORT_BISECTION, "text", write_text);
ASSAY_EMITTER(bisection_json, ASSAY_REPORT_BISECTION, "json", write_json);
