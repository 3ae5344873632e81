/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/function_blame.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "stats/stats.h"

#define CHANCE     0.01 /* of blaming a function that did not change, in one comparison */
#define LEAST_FRAC 0.01 /* of either side that a function takes to be asked about */
#define MOST_NAMED 3
#define ALSO_FRAC  0.2 /* of the whole change that a further function takes to be named, too */
#define LONG_S     3600
#define SLACK_FRAC 0.1 /* of the change: sampling costs a little on both sides */

static void change_text(double ns, char *buf, size_t size)
{
	char text[40];

	assay_quantity_text(fabs(ns) * 1e-9, "s", false, text, sizeof(text));
	snprintf(buf, size, "%s%s", ns < 0 ? "-" : "+", text);
}

static bool is_asked(const struct assay_profile_diff *d, const struct assay_profile_change *c)
{
	return c->own[0] >= LEAST_FRAC * d->whole[0] || c->own[1] >= LEAST_FRAC * d->whole[1];
}

static double level_of(const struct assay_profile_diff *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += is_asked(d, &d->v[i]);
	return 1 - CHANCE / (double)(n ? n : 1);
}

/* Surely in the direction of @whole. */
static bool stands_out(const struct assay_profile_diff *d, const struct assay_profile_change *c, double whole,
		       double level)
{
	const struct assay_interval ci = assay_profile_change_ci(d, c, level);

	return is_asked(d, c) && (whole > 0 ? ci.lo > 0 : ci.hi < 0);
}

/* As much of something that surely went the other way as would be named: code went from one function to another. */
static bool code_moved(const struct assay_profile_diff *d, double whole, double level)
{
	for (size_t i = 0; i < d->n; i++)
		if (fabs(d->v[i].change) >= ALSO_FRAC * fabs(whole) && stands_out(d, &d->v[i], -whole, level))
			return true;
	return false;
}

/* The uncertainty of the whole change goes to each function by its share of it. */
static struct assay_interval with_whole(const struct assay_blame_input *in, const struct assay_profile_change *c,
					double whole)
{
	const double share = c->change / whole;
	const double down = share * in->base_ns * (in->ratio - in->ci.lo), up = share * in->base_ns *
										(in->ci.hi - in->ratio);

	return (struct assay_interval){ c->change - hypot(c->change - c->ci.lo, down),
					c->change + hypot(c->ci.hi - c->change, up) };
}

/* "matmul_gemv_tile (matmul_ternary_tile.h:120-141) takes +1.9 us (+1.7 us to +2.1 us)" */
static size_t add_function(const struct assay_blame_input *in, const struct assay_profile_change *c, double whole,
			   char *buf, size_t size)
{
	const struct assay_interval ci = with_whole(in, c, whole);
	char change[48], lo[48], hi[48], place[192] = "";

	change_text(c->change, change, sizeof(change));
	change_text(ci.lo, lo, sizeof(lo));
	change_text(ci.hi, hi, sizeof(hi));
	if (c->line && c->last_line > c->line)
		snprintf(place, sizeof(place), " (%.128s:%u-%u)", c->file, c->line, c->last_line);
	else if (c->line)
		snprintf(place, sizeof(place), " (%.128s:%u)", c->file, c->line);
	else if (c->object[0])
		snprintf(place, sizeof(place), " (%.128s)", c->object);
	return (size_t)snprintf(buf, size, "%.*s%s takes %s (%s to %s)",
				c->length ? (int)(c->length < 100 ? c->length : 100) : 9,
				c->length ? c->name : "[unknown]", place, change, lo, hi);
}

static void take(const struct assay_blame_input *in, const struct assay_profile_change *c, double whole,
		 struct assay_gate_because *out)
{
	const struct assay_interval ci = with_whole(in, c, whole);

	snprintf(out->function, sizeof(out->function), "%.*s", (int)(c->length < 127 ? c->length : 127), c->name);
	snprintf(out->object, sizeof(out->object), "%.127s", c->object);
	snprintf(out->file, sizeof(out->file), "%.127s", c->file);
	out->line = c->line;
	out->last_line = c->last_line;
	out->change_ns = c->change;
	out->ci_lo_ns = ci.lo;
	out->ci_hi_ns = ci.hi;
}

/* What took more and what took less, the largest first. */
static void say_what_moved(const struct assay_blame_input *in, const struct assay_profile_diff *d, double whole,
			   struct assay_gate_because *out)
{
	const double level = level_of(d);
	size_t named = 0, at;
	char text[48];

	change_text(whole, text, sizeof(text));
	at = (size_t)snprintf(out->text, sizeof(out->text),
			      "because of no single function that is known, of the %s work moved between functions: ",
			      text);
	for (size_t i = 0; i < d->n && named < MOST_NAMED && at < sizeof(out->text); i++) {
		if (!stands_out(d, &d->v[i], whole, level) && !stands_out(d, &d->v[i], -whole, level))
			continue;
		at += (size_t)snprintf(out->text + at, sizeof(out->text) - at, "%s", named++ ? ", " : "");
		if (at < sizeof(out->text))
			at += add_function(in, &d->v[i], whole, out->text + at, sizeof(out->text) - at);
	}
}

/* Of what stands out, the largest first. False: nothing does. */
static bool name_functions(const struct assay_blame_input *in, const struct assay_profile_diff *d, double whole,
			   struct assay_gate_because *out)
{
	const double level = level_of(d);
	size_t named = 0, at = 0;
	char text[48];

	for (size_t i = 0; i < d->n && named < MOST_NAMED && at < sizeof(out->text); i++) {
		const struct assay_profile_change *c = &d->v[i];

		if (!stands_out(d, c, whole, level) || (named && fabs(c->change) < ALSO_FRAC * fabs(whole)))
			continue;
		if (!named)
			take(in, c, whole, out);
		at += (size_t)snprintf(out->text + at, sizeof(out->text) - at, "%s", named ? ", " : "because ");
		if (at < sizeof(out->text))
			at += add_function(in, c, whole, out->text + at, sizeof(out->text) - at);
		named++;
	}
	change_text(whole, text, sizeof(text));
	if (named && at < sizeof(out->text))
		snprintf(out->text + at, sizeof(out->text) - at, " of the %s", text);
	return named > 0;
}

/* How long it takes until half of the change, in the function that moved most, would stand out. */
static void say_what_would_do(const struct assay_blame_input *in, const struct assay_profile_diff *d, double whole,
			      struct assay_gate_because *out)
{
	const double level = level_of(d);
	double widest = 0, seconds;
	char change[48], enough[48];

	for (size_t i = 0; i < d->n; i++) {
		const struct assay_interval ci = assay_profile_change_ci(d, &d->v[i], level);

		if (is_asked(d, &d->v[i]))
			widest = fmax(widest, (ci.hi - ci.lo) / 2);
	}
	change_text(whole, change, sizeof(change));
	seconds = in->seconds * pow(widest / (fabs(whole) / 2), 2);
	if (seconds <= in->seconds)
		snprintf(enough, sizeof(enough), "it is spread over several functions");
	else if (seconds > LONG_S)
		snprintf(enough, sizeof(enough), "even an hour of samples would not tell");
	else
		snprintf(enough, sizeof(enough), "--profile-for %.0fs would tell", ceil(seconds / 10) * 10);
	snprintf(out->text, sizeof(out->text),
		 "because of no single function that is known: %s is %.0f of %" PRIu64 " samples in %.0f s; %s", change,
		 fabs(1 - 1 / in->ratio) * (double)d->weight[1], d->weight[1], in->seconds, enough);
}

/* Did the sides differ while they were profiled as when they were measured? */
static bool agrees(const struct assay_blame_input *in, struct assay_interval *profiled)
{
	const double slack = SLACK_FRAC * fabs(in->ratio - 1);
	double x[ASSAY_BLAME_PAIRS_MAX];

	memcpy(x, in->profiled_ratio, in->n * sizeof(*x));
	*profiled = in->n > 1 ? assay_stats_groups_ci(x, in->n, 0.95) : (struct assay_interval){ 0, INFINITY };
	return profiled->lo <= in->ci.hi + slack && profiled->hi >= in->ci.lo - slack;
}

int assay_function_blame(const struct assay_blame_input *in, struct assay_gate_because *out, struct assay_err *err)
{
	struct assay_profile_diff d;
	struct assay_interval profiled;
	const double whole = in->base_ns * (in->ratio - 1);
	int rc;

	*out = (struct assay_gate_because){ .asked = true,
					    .change_ns = NAN,
					    .ci_lo_ns = NAN,
					    .ci_hi_ns = NAN,
					    .whole_ns = whole,
					    .seconds = in->seconds };
	in->side[0]->iteration_ns = in->base_ns;
	in->side[1]->iteration_ns = in->base_ns * in->ratio;
	rc = assay_profile_diff_make(&d, in->side[0], in->side[1], err);
	if (!rc) {
		out->samples = d.weight[0] + d.weight[1];
		if (!d.weight[0] || !d.weight[1])
			snprintf(out->text, sizeof(out->text), "because of what is not known: no samples were taken");
		else if (!agrees(in, &profiled))
			snprintf(out->text, sizeof(out->text),
				 "because of what is not known: while they were profiled, the sides differed by %+.2f to "
				 "%+.2f %%, when they were measured by %+.2f to %+.2f %%",
				 100 * (profiled.lo - 1), 100 * (profiled.hi - 1), 100 * (in->ci.lo - 1),
				 100 * (in->ci.hi - 1));
		else if (code_moved(&d, whole, level_of(&d)))
			say_what_moved(in, &d, whole, out);
		else if (!name_functions(in, &d, whole, out))
			say_what_would_do(in, &d, whole, out);
	}
	assay_profile_diff_release(&d);
	return rc;
}
