/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a line of a table of a run: the shape of a case, its rate and limit, the metrics that its op publishes. */
#include "reports/run/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/build.h"
#include "model/quantity.h"
#include "reports/text_parts.h"

/* Above this many operations a byte an op is shown by its arithmetic rate, below by its bandwidth. */
#define OPS_PER_BYTE_ARITHMETIC 4.0

static bool is_common(const struct assay_run *run, const struct assay_case *c, unsigned axis)
{
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_case *o = &run->results[i].c;

		if (!strcmp(o->op, c->op) && (o->n_axes != c->n_axes || strcmp(o->axes[axis].text, c->axes[axis].text)))
			return false;
	}
	return true;
}

void assay_run_cells_shape(const struct assay_run *run, const struct assay_case *c, bool common, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < c->n_axes && n < size; i++)
		if (is_common(run, c, i) == common)
			n += (size_t)snprintf(buf + n, size - n, "%s%s=%s", n ? "," : "", c->axes[i].name,
					      c->axes[i].text);
}

struct assay_run_against assay_run_cells_against(const struct assay_run *run, const struct assay_result *r)
{
	const struct assay_result *best = r, *reference = NULL, *other;
	struct assay_time_ratio times;

	for (size_t i = 0; i < run->n_results && assay_run_cells_measured(r); i++) {
		const struct assay_result *o = &run->results[i];

		if (!assay_run_cells_measured(o) || o->c.threads != r->c.threads ||
		    !assay_case_same_shape(&o->c, &r->c))
			continue;
		if (o->median_ns < best->median_ns)
			best = o;
		if (o->c.reference && o != r)
			reference = o;
	}
	other = best != r ? best : reference;
	if (!other)
		return (struct assay_run_against){ NULL, { NAN, { NAN, NAN } } };
	assay_summary_ratio(r, other, &times);
	return (struct assay_run_against){ other, times };
}

const struct assay_result *assay_run_cells_reference(const struct assay_run *run, const struct assay_result *r)
{
	const struct assay_result *reference = NULL;
	bool others = false;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *o = &run->results[i];

		if (!assay_run_cells_measured(o) || o->c.threads != r->c.threads ||
		    !assay_case_same_shape(&o->c, &r->c))
			continue;
		others |= o != r;
		if (o->c.reference)
			reference = o;
	}
	return others ? reference : NULL;
}

void assay_run_cells_vs_reference(const struct assay_run *run, const struct assay_result *r, bool utf8, char *buf,
				  size_t size)
{
	const struct assay_result *reference = assay_run_cells_reference(run, r);
	struct assay_time_ratio t;
	double half;
	int decimals;

	buf[0] = '\0';
	if (reference == r)
		snprintf(buf, size, utf8 ? "×1.00" : "1.00x");
	if (!reference || reference == r)
		return;
	assay_summary_ratio(reference, r, &t);
	half = fmax(t.ci.hi / t.times, t.times / t.ci.lo) - 1;
	if (!(half < 1)) { /* an interval wider than the ratio says nothing, nor does a ratio without one */
		snprintf(buf, size, "unsure");
		return;
	}
	decimals = t.times < 9.95 ? 2 : t.times < 99.5 ? 1 : 0;
	snprintf(buf, size, utf8 ? "×%.*f ±%.*f %%" : "%.*fx +-%.*f %%", decimals, t.times, half < 0.0995 ? 1 : 0,
		 100 * half);
}

void assay_run_cells_against_text(const struct assay_run *run, const struct assay_result *r, char *buf, size_t size)
{
	const struct assay_run_against a = assay_run_cells_against(run, r);
	const bool slower = a.times.times > 1;
	const double times = slower ? a.times.times : 1 / a.times.times;
	const double lo = slower ? a.times.ci.lo : 1 / a.times.ci.hi, hi = slower ? a.times.ci.hi : 1 / a.times.ci.lo;
	const int decimals = times < 9.95 ? 2 : times < 99.5 ? 1 : 0;

	buf[0] = '\0';
	if (!a.other)
		return;
	if (!isfinite(times))
		snprintf(buf, size, "unsure against %s: %s", a.other->c.variant,
			 r->disturbed || a.other->disturbed ? "most samples were disturbed" : "no interval");
	else if (times < 1.005)
		snprintf(buf, size, "as fast as %s", a.other->c.variant);
	else
		snprintf(buf, size, "%.*fx %s than %s (%.*fx to %.*fx)", decimals, times, slower ? "slower" : "faster",
			 a.other->c.variant, decimals, lo, decimals, hi);
}

/* "kv_hit_frac" → "kv hit": the unit stands with the number. */
static void spoken_name(const char *tag, char *name, size_t size)
{
	static const char *const units[] = { " per s", " s", " frac", " bytes" };

	snprintf(name, size, "%s", tag);
	for (char *p = name; *p; p++)
		if (*p == '_')
			*p = ' ';
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t len = strlen(name), end = strlen(units[i]);

		if (len > end && !strcmp(name + len - end, units[i])) {
			name[len - end] = '\0';
			return;
		}
	}
}

void assay_run_cells_share(const struct assay_result *r, char *buf, size_t size)
{
	const double share = assay_run_cells_metric(r, "roof_frac");

	buf[0] = '\0';
	if (isfinite(share))
		snprintf(buf, size, "%.*f %%%s", share < 0.0995 ? 1 : 0, 100 * share, assay_limit_mark(share));
}

void assay_run_cells_no_roof(const struct assay_run *run, char *buf, size_t size)
{
	const char *why = "";
	size_t without = 0, with = 0;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];
		const struct assay_unavailable *u = assay_counters_find_missing(&r->counters, "roof_frac");

		/* of programs nobody expects one */
		if (!assay_run_cells_measured(r) || assay_case_is_limit(&r->c) || r->c.cache == ASSAY_CACHE_NONE)
			continue;
		if (assay_result_metric(r, "roof_frac")) {
			with++;
		} else if (u) {
			why = without++ ? why : u->reason;
		}
	}
	buf[0] = '\0';
	if (without && with)
		snprintf(buf, size, "none of %zu case%s: %s", without, without == 1 ? "" : "s", why);
	else if (without)
		snprintf(buf, size, "none: %s", why);
}

bool assay_run_cells_repeats(const struct assay_result *r, const struct assay_metric *m)
{
	if (strcmp(m->tag, "items_per_s"))
		return false;
	for (size_t i = 0; i < r->n_metrics; i++)
		if (!strcmp(r->metrics[i].unit, "1/s") && !assay_metric_find(r->metrics[i].tag))
			return true;
	return false;
}

/* The name that stands before a rate has said what was counted. */
static void put_number(const struct assay_metric *m, bool utf8, char *buf, size_t size)
{
	if (!strcmp(m->unit, "1/s"))
		assay_quantity_text(m->value, m->unit, utf8, buf, size);
	else
		assay_metric_text(m->tag, m->value, m->unit, utf8, buf, size);
}

/* How much of @name is words with which @last begins as well, if it has others behind them. */
static size_t shared_words(const char *name, const char *last)
{
	size_t shared = 0;

	for (size_t i = 0; name[i]; i++) {
		if (name[i] == ' ' && (last[i] == ' ' || !last[i]))
			shared = i + 1;
		if (name[i] != last[i])
			break;
	}
	return shared;
}

void assay_run_cells_metrics(const struct assay_result *r, const struct assay_emit_style *style, struct assay_text *out)
{
	char last[ASSAY_METRIC_TAG_MAX] = "";

	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct assay_metric *m = &r->metrics[i];
		char name[ASSAY_METRIC_TAG_MAX], number[64];
		size_t shared;

		if ((!style->verbose && assay_metric_find(m->tag)) || !strcmp(m->tag, "tokens_per_s") ||
		    assay_run_cells_repeats(r, m))
			continue;
		spoken_name(m->tag, name, sizeof(name));
		put_number(m, style->utf8, number, sizeof(number));

		/* neighbours that begin with the same words say them once */
		shared = shared_words(name, last);
		if (shared)
			assay_text_addf(out, ", %s", name + shared);
		else
			assay_text_addf(out, "%s%s", out->len ? (style->utf8 ? " · " : " | ") : "", name);
		memcpy(last, name, sizeof(last));
		/* a number stays with its unit when the line wraps */
		for (char *p = number; *p; p++) {
			if (p == number)
				assay_text_add(out, style->utf8 ? "\u00a0" : " ");
			if (*p == ' ' && style->utf8)
				assay_text_add(out, "\u00a0");
			else
				assay_text_addn(out, p, 1);
		}
	}
}

bool assay_run_cells_measured(const struct assay_result *r)
{
	return r->status == ASSAY_STATUS_OK && r->n_samples && r->median_ns > 0;
}

double assay_run_cells_metric(const struct assay_result *r, const char *tag)
{
	const struct assay_metric *m = assay_result_metric(r, tag);

	return m ? m->value : NAN;
}

const char *assay_run_cells_rate_tag(const struct assay_run *run, const char *op)
{
	double intensity = 0;
	bool bytes = false, ops = false;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];
		double b = assay_run_cells_metric(r, "bytes_per_s"), o = assay_run_cells_metric(r, "ops_per_s");

		if (strcmp(r->c.op, op) || r->status != ASSAY_STATUS_OK)
			continue;
		if (assay_result_metric(r, "tokens_per_s"))
			return "tokens_per_s";
		bytes |= isfinite(b) && b > 0;
		ops |= isfinite(o) && o > 0;
		if (b > 0 && o / b > intensity)
			intensity = o / b;
	}
	if (ops && (!bytes || intensity > OPS_PER_BYTE_ARITHMETIC))
		return "ops_per_s";
	return bytes ? "bytes_per_s" : "items_per_s";
}

void assay_run_cells_rate(const struct assay_result *r, const char *tag, const struct assay_emit_style *style,
			  char *buf, size_t size)
{
	const struct assay_metric *m = assay_result_metric(r, tag);

	buf[0] = '\0';
	if (m)
		assay_metric_text(tag, m->value, m->unit, style->utf8, buf, size);
}

bool assay_run_cells_op_before(const struct assay_run *run, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(run->results[k].c.op, run->results[i].c.op))
			return true;
	return false;
}

void assay_run_cells_note(struct assay_columns *t, const struct assay_emit_style *style, const struct assay_result *r)
{
	char text[sizeof(r->note) + 32];

	if (!r->note[0])
		return;
	snprintf(text, sizeof(text), "%s%s%s", assay_paint(style, ASSAY_YELLOW), r->note,
		 assay_paint(style, ASSAY_RESET));
	assay_columns_line(t, 4, text);
}

void assay_run_cells_metrics_line(struct assay_columns *t, const struct assay_emit_style *style,
				  const struct assay_result *r)
{
	struct assay_text line = { 0 };

	assay_run_cells_metrics(r, style, &line);
	if (line.len)
		assay_columns_line(t, 4, line.s);
	t->failed |= line.failed;
	assay_text_release(&line);
}

void assay_run_legend_line(struct assay_text *out, const struct assay_emit_style *style, const char *name,
			   const char *text)
{
	assay_text_addf(out, "  %-10s ", name);
	assay_columns_wrap(out, text, 13, 13, style->width);
	assay_text_add(out, "\n");
}
