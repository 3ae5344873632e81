/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/function_blame.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"
#include "stats/distributions.h"
#include "stats/stats.h"

#define CHANCE     0.01 /* of blaming a function that did not change, in one comparison */
#define LEAST_FRAC 0.01 /* of either side that a function takes to be asked about */
#define MOST_ASKED 256  /* no more can take LEAST_FRAC of either side */
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

/* What a function takes more, by the process pairs. */
struct part {
	const struct assay_profile_change *c; /* of all pairs together */
	double change, error;                 /* mean and its standard error */
};

struct blaming {
	const struct assay_blame_input *in;
	struct assay_profile side[2]; /* of all pairs together */
	struct assay_profile_diff all, pair[ASSAY_BLAME_PAIRS_MAX];
	struct part parts[MOST_ASKED];
	size_t n;
	double base_ns, whole; /* an iteration of the base, and what one of the head takes more */
	double strict;         /* level of the interval that leaves out zero */
	struct assay_gate_because *out;
	struct assay_err *err;
};

static bool is_asked(const struct assay_profile_diff *d, const struct assay_profile_change *c)
{
	return c->own[0] >= LEAST_FRAC * d->whole[0] || c->own[1] >= LEAST_FRAC * d->whole[1];
}

static double change_in(const struct assay_profile_diff *d, const struct assay_profile_change *c)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].length == c->length && !strncmp(d->v[i].name, c->name, c->length) &&
		    (c->length || !strcmp(d->v[i].object, c->object)))
			return d->v[i].change;
	return 0;
}

/* A pair cannot tell less than a sample. */
static void find_part(const struct blaming *k, struct part *p)
{
	const double n = (double)k->in->n;
	double squares = 0, least = 0;

	p->change = 0;
	for (size_t i = 0; i < k->in->n; i++) {
		p->change += change_in(&k->pair[i], p->c) / n;
		least += (k->pair[i].scale[0] + k->pair[i].scale[1]) / 2 / n;
	}
	for (size_t i = 0; i < k->in->n; i++)
		squares += pow(change_in(&k->pair[i], p->c) - p->change, 2);
	p->error = k->in->n > 1 ? fmax(least, sqrt(squares / (n - 1))) / sqrt(n) : INFINITY;
}

/* By chance in all samples at @level, and at least by what pairs differ at @level_of_pairs. */
static double half_width(const struct blaming *k, const struct part *p, double level, double level_of_pairs)
{
	const struct assay_interval ci = assay_profile_change_ci(&k->all, p->c, level);
	const double chance = fmax(p->c->change - ci.lo, ci.hi - p->c->change);

	if (k->in->n < 2)
		return INFINITY;
	return fmax(chance, assay_stats_t_quantile((1 + level_of_pairs) / 2, (double)k->in->n - 1) * p->error);
}

/* Surely in the direction of @whole. A @further function beside another stands out by its pairs as by its samples. */
static bool stands_out(const struct blaming *k, const struct part *p, double whole, bool further)
{
	const double half = half_width(k, p, k->strict, further ? k->strict : 1 - CHANCE);

	return whole > 0 ? p->change > half : p->change < -half;
}

/* As much of something that surely went the other way as would be named: code went from one function to another. */
static bool code_moved(const struct blaming *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (fabs(k->parts[i].change) >= ALSO_FRAC * fabs(k->whole) &&
		    stands_out(k, &k->parts[i], -k->whole, false))
			return true;
	return false;
}

/* At 95 %. The uncertainty of the whole change goes to each function by its share of it. */
static struct assay_interval interval_of(const struct blaming *k, const struct part *p)
{
	const double half = half_width(k, p, 0.95, 0.95), share = p->change / k->whole * k->base_ns;

	return (struct assay_interval){ p->change - hypot(half, share * (k->in->ratio - k->in->ci.lo)),
					p->change + hypot(half, share * (k->in->ci.hi - k->in->ratio)) };
}

/* "matmul_gemv_tile (matmul_ternary_tile.h:120-141) takes +1.9 us (+1.7 us to +2.1 us)" */
static size_t add_function(const struct blaming *k, const struct part *p, char *buf, size_t size)
{
	const struct assay_interval ci = interval_of(k, p);
	const struct assay_profile_change *c = p->c;
	char change[48], lo[48], hi[48], place[192] = "";

	change_text(p->change, change, sizeof(change));
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

static void take(const struct blaming *k, const struct part *p)
{
	const struct assay_interval ci = interval_of(k, p);
	const struct assay_profile_change *c = p->c;
	struct assay_gate_because *out = k->out;

	snprintf(out->function, sizeof(out->function), "%.*s", (int)(c->length < 127 ? c->length : 127), c->name);
	snprintf(out->object, sizeof(out->object), "%.127s", c->object);
	snprintf(out->file, sizeof(out->file), "%.127s", c->file);
	out->line = c->line;
	out->last_line = c->last_line;
	out->change_ns = p->change;
	out->ci_lo_ns = ci.lo;
	out->ci_hi_ns = ci.hi;
}

/* Add up to MOST_NAMED functions to the text; of what went the other way, too, where code moved. How many. */
static size_t add_functions(const struct blaming *k, bool moved)
{
	struct assay_gate_because *out = k->out;
	size_t named = 0, at = strlen(out->text);
	double sum = 0;

	for (size_t i = 0; i < k->n && named < MOST_NAMED && at < sizeof(out->text); i++) {
		const struct part *p = &k->parts[i];

		if (!stands_out(k, p, k->whole, named && !moved) && !(moved && stands_out(k, p, -k->whole, false)))
			continue;
		/* the parts are no more than the whole */
		if (named && !moved &&
		    (fabs(p->change) < ALSO_FRAC * fabs(k->whole) ||
		     fabs(sum + p->change) > (1 + SLACK_FRAC) * fabs(k->whole)))
			continue;
		sum += p->change;
		if (!named && !moved)
			take(k, p);
		at += (size_t)snprintf(out->text + at, sizeof(out->text) - at, "%s", named++ ? ", " : "");
		if (at < sizeof(out->text))
			at += add_function(k, p, out->text + at, sizeof(out->text) - at);
	}
	return named;
}

/* How long it takes until half of the change would stand out in any function. */
static void say_what_would_do(const struct blaming *k)
{
	const struct assay_blame_input *in = k->in;
	double widest = 0, seconds;
	char change[48], enough[64];

	for (size_t i = 0; i < k->n; i++)
		widest = fmax(widest, half_width(k, &k->parts[i], k->strict, 1 - CHANCE));
	change_text(k->whole, change, sizeof(change));
	seconds = in->seconds * pow(widest / (fabs(k->whole) / 2), 2);
	if (seconds <= in->seconds)
		snprintf(enough, sizeof(enough), "it is spread over several functions");
	else if (!(seconds <= LONG_S))
		snprintf(enough, sizeof(enough), "even an hour of samples would not tell");
	else
		snprintf(enough, sizeof(enough), "--profile-for %.0fs would tell", ceil(seconds / 10) * 10);
	snprintf(k->out->text, sizeof(k->out->text),
		 "because of no single function that is known: %s is %.0f of %" PRIu64 " samples in %.0f s; %s", change,
		 fabs(1 - 1 / in->ratio) * (double)k->all.weight[1], k->all.weight[1], in->seconds, enough);
}

/* Did the sides differ while they were profiled as when they were measured? */
static bool agrees(const struct assay_blame_input *in, struct assay_interval *profiled)
{
	const double slack = SLACK_FRAC * fabs(in->ratio - 1);
	double x[ASSAY_BLAME_PAIRS_MAX];

	for (size_t i = 0; i < in->n; i++)
		x[i] = in->pairs[i].side[1].iteration_ns / in->pairs[i].side[0].iteration_ns;
	*profiled = in->n > 1 ? assay_stats_groups_ci(x, in->n, 0.95) : (struct assay_interval){ 0, INFINITY };
	return profiled->lo <= in->ci.hi + slack && profiled->hi >= in->ci.lo - slack;
}

static void explain(struct blaming *k)
{
	const struct assay_blame_input *in = k->in;
	struct assay_gate_because *out = k->out;
	struct assay_interval profiled;
	char whole[48];
	bool moved = code_moved(k);

	change_text(k->whole, whole, sizeof(whole));
	if (!k->all.weight[0] || !k->all.weight[1]) {
		snprintf(out->text, sizeof(out->text), "because of what is not known: no samples were taken");
		return;
	}
	if (!agrees(in, &profiled)) {
		snprintf(out->text, sizeof(out->text),
			 "because of what is not known: while they were profiled, the sides differed by %+.2f to "
			 "%+.2f %%, when they were measured by %+.2f to %+.2f %%",
			 100 * (profiled.lo - 1), 100 * (profiled.hi - 1), 100 * (in->ci.lo - 1),
			 100 * (in->ci.hi - 1));
		return;
	}
	snprintf(out->text, sizeof(out->text),
		 moved ? "because of no single function that is known, of the %s work "
			 "moved between functions: "
		       : "because ",
		 whole);
	if (!add_functions(k, moved)) {
		say_what_would_do(k);
	} else if (!moved) {
		const size_t at = strlen(out->text);

		snprintf(out->text + at, sizeof(out->text) - at, " of the %s", whole);
	}
}

/* The time of an iteration is the measured one, in all pairs alike: profiles say how it divides. */
static int divide(struct blaming *k)
{
	const struct assay_blame_input *in = k->in;
	int rc = 0;

	for (size_t i = 0; i < in->n && !rc; i++) {
		struct assay_profile pair[2];

		for (unsigned side = 0; side < 2 && !rc; side++) {
			rc = assay_profile_add(&k->side[side], &in->pairs[i].side[side], k->err);
			pair[side] = in->pairs[i].side[side];
			pair[side].iteration_ns = k->side[side].iteration_ns;
		}
		if (!rc)
			rc = assay_profile_diff_make(&k->pair[i], &pair[0], &pair[1], k->err);
	}
	if (!rc)
		rc = assay_profile_diff_make(&k->all, &k->side[0], &k->side[1], k->err);
	for (size_t i = 0; i < k->all.n && !rc && k->n < MOST_ASKED; i++)
		if (is_asked(&k->all, &k->all.v[i]))
			k->parts[k->n++].c = &k->all.v[i];
	for (size_t i = 0; i < k->n && !rc; i++)
		find_part(k, &k->parts[i]);
	k->strict = 1 - CHANCE / (double)(k->n ? k->n : 1);
	return rc;
}

int assay_function_blame(const struct assay_blame_input *in, struct assay_gate_because *out, struct assay_err *err)
{
	struct blaming *k = calloc(1, sizeof(*k));
	int rc;

	if (!k)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	k->in = in;
	k->out = out;
	k->err = err;
	for (size_t i = 0; i < in->n; i++)
		k->base_ns += in->pairs[i].side[0].iteration_ns / (double)in->n;
	k->whole = k->base_ns * (in->ratio - 1);
	for (unsigned side = 0; side < 2; side++)
		k->side[side] = (struct assay_profile){ .kind = "cpu",
							.unit = "samples",
							.is_case = true,
							.iteration_ns = side ? k->base_ns * in->ratio : k->base_ns };
	*out = (struct assay_gate_because){ .asked = true,
					    .change_ns = NAN,
					    .ci_lo_ns = NAN,
					    .ci_hi_ns = NAN,
					    .whole_ns = k->whole,
					    .seconds = in->seconds };
	rc = divide(k);
	if (!rc) {
		out->samples = k->all.weight[0] + k->all.weight[1];
		explain(k);
	}
	for (size_t i = 0; i < in->n; i++)
		assay_profile_diff_release(&k->pair[i]);
	assay_profile_diff_release(&k->all);
	for (unsigned side = 0; side < 2; side++)
		assay_profile_release(&k->side[side]);
	free(k);
	return rc;
}
