/* SPDX-License-Identifier: Apache-2.0 */
/* What `assay plan` says can be promised, for people and for scripts. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/json_parts.h"
#include "reports/text_parts.h"

/* One line, wrapped to the terminal. */
static void __attribute__((format(printf, 3, 4)))
say(struct assay_text *out, const struct assay_emit_style *style, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	assay_columns_wrap(out, text, 0, 0, style->width);
	assay_text_add(out, "\n");
}

static void add_case(struct assay_columns *t, const struct assay_promise_case *c, const struct assay_emit_style *style)
{
	char sd[16] = "unknown", pairs[16] = "-", took[32] = "-";

	if (c->known)
		snprintf(sd, sizeof(sd), "%.3f %%", 100 * c->sd);
	if (c->need_pairs) {
		snprintf(pairs, sizeof(pairs), "%u", c->need_pairs);
		assay_quantity_text(c->need_s, "s", style->utf8, took, sizeof(took));
	} else if (c->known) {
		snprintf(pairs, sizeof(pairs), "> %u", ASSAY_PROMISE_MOST_PAIRS);
	}
	assay_columns_row(t, (const char *const[]){ sd, pairs, took, c->key });
	if (!c->known)
		assay_columns_line(t, 6, c->reason);
}

/* One row a case; how many nothing is known of. */
static size_t add_cases(const struct assay_promise_report *p, const struct assay_emit_style *style,
			struct assay_text *out)
{
	struct assay_columns t = { .align = "rrrl", .indent = "  ", .width = style->width };
	size_t unknown = 0;

	assay_columns_row(&t, (const char *const[]){ "pair sd", "pairs", "time", "case" });
	for (size_t i = 0; i < p->n_cases; i++) {
		add_case(&t, &p->cases[i], style);
		unknown += !p->cases[i].known;
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	return unknown;
}

static void write_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_promise_report *p = r->promise;
	char needed[64], within[64];
	size_t unknown;

	assay_text_addf(out, "suite    %s, %zu case%s\nmachine  %s\n\n", p->suite, p->n_cases,
			p->n_cases == 1 ? "" : "s", p->machine);
	unknown = add_cases(p, style, out);
	assay_text_add(out, "\n");
	if (unknown) {
		say(out, style,
		    "Nothing can be promised: of %zu case%s nothing usable could be measured, see above. Leave %s out "
		    "with --only or try again when the host is quieter.",
		    unknown, unknown == 1 ? "" : "s", unknown == 1 ? "it" : "them");
		return;
	}
	assay_quantity_text(p->needed_s, "s", style->utf8, needed, sizeof(needed));
	assay_quantity_text(p->within_s, "s", style->utf8, within, sizeof(within));
	if (isfinite(p->needed_s))
		say(out, style,
		    "+%.3g %% is found in 95 of 100 comparisons, with at most %.3g %% failing on unchanged code, in "
		    "%s.",
		    100 * p->detect_frac, 100 * p->alpha, needed);
	else
		say(out, style,
		    "+%.3g %% cannot be found here with %u pairs a case: the cases above that say so vary too much.",
		    100 * p->detect_frac, ASSAY_PROMISE_MOST_PAIRS);
	if (p->within_s > 0 && p->possible)
		say(out, style, "That is within %s.", within);
	else if (p->within_s > 0 && isfinite(p->detectable_frac))
		say(out, style,
		    "Within %s the best promise is +%.3g %%: allow more time, fewer cases (--only), or a larger "
		    "slowdown.",
		    within, 100 * p->detectable_frac);
	else if (p->within_s > 0)
		say(out, style, "Within %s nothing can be promised: allow more time or fewer cases (--only).", within);
}

static json_t *case_json(const struct assay_promise_case *c)
{
	return json_pack("{s:s,s:b,s:o,s:i,s:o,s:o,s:o,s:s}", "key", c->key, "known", c->known, "pair_sd",
			 assay_json_number(c->known ? c->sd : NAN), "known_pairs", (int)c->known_pairs, "pair_s",
			 assay_json_number(c->known ? c->pair_s : NAN), "pairs",
			 c->need_pairs ? json_integer(c->need_pairs) : json_null(), "seconds",
			 assay_json_number(c->need_s), "reason", c->reason);
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_promise_report *p = r->promise;
	json_t *cases = json_array();

	(void)style;
	for (size_t i = 0; i < p->n_cases; i++)
		json_array_append_new(cases, case_json(&p->cases[i]));
	assay_json_print(json_pack("{s:i,s:s,s:f,s:f,s:o,s:o,s:b,s:o,s:o}", "schema", 1, "suite", p->suite, "detect",
				   p->detect_frac, "alpha", p->alpha, "within_s",
				   p->within_s > 0 ? json_real(p->within_s) : json_null(), "needed_s",
				   assay_json_number(p->needed_s), "possible", p->possible, "detectable_within",
				   assay_json_number(p->detectable_frac), "cases", cases),
			 out);
}

ASSAY_EMITTER(promise_text, ASSAY_REPORT_PROMISE, "text", write_text);
ASSAY_EMITTER(promise_json, ASSAY_REPORT_PROMISE, "json", write_json);
