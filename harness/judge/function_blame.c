/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/function_blame.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/function_parts.h"
#include "model/quantity.h"
#include "stats/distributions.h"
#include "stats/stats.h"

#define MOST_NAMED 3
#define ALSO_FRAC  0.2 /* of the whole change that a further function takes to be named, too */
#define LONG_S     3600
#define SLACK_FRAC 0.1 /* of the change: sampling costs a little on both sides */
#define LEVEL      0.95

struct blaming {
	const struct assay_because_evidence *e;
	double ratio;
	struct assay_interval ci;
	struct assay_function_parts p;
	struct assay_gate_because *out;
};

static void change_text(double ns, char *buf, size_t size)
{
	char text[40];

	assay_quantity_text(fabs(ns) * 1e-9, "s", false, text, sizeof(text));
	snprintf(buf, size, "%s%s", ns < 0 ? "-" : "+", text);
}

/* How many standard errors lie within @level, of one of all functions that are asked about. */
static double errors_of(const struct blaming *k, double chance)
{
	return assay_stats_t_quantile(1 - chance / 2, fmax(1, k->p.df));
}

/* At the level at which one of all functions is blamed by chance; a function that hardly changed takes more. */
static double strict(const struct blaming *k, const struct assay_function_part *f)
{
	return errors_of(k, ASSAY_BLAME_CHANCE * f->weight / (double)(k->p.n ? k->p.n : 1));
}

/* Surely in the direction of @whole, and by more than @least. */
static bool moved_by(const struct blaming *k, const struct assay_function_part *f, double whole, double least)
{
	const double half = strict(k, f) * f->error + fabs(least);

	return whole > 0 ? f->change > half : f->change < -half;
}

/* More than it would have moved with all others alike; where @uneven is known, more than chance. */
static bool stands_out(const struct blaming *k, const struct assay_function_part *f, bool uneven)
{
	return moved_by(k, f, k->p.whole_ns, k->p.n > 1 && !uneven ? f->even : 0);
}

static bool went_back(const struct blaming *k, const struct assay_function_part *f)
{
	return moved_by(k, f, -k->p.whole_ns, 0);
}

/* Is it the only one that may have changed, by what is known beforehand? */
static bool is_only_one(const struct blaming *k, const struct assay_function_part *f)
{
	for (size_t i = 0; i < k->p.n; i++)
		if (&k->p.v[i] != f && k->p.v[i].weight >= 1)
			return false;
	return f->weight >= 1 && k->p.n > 1;
}

/* The parts are those of a change that lies in @f alone. */
static bool fits(const struct blaming *k, const struct assay_function_part *f)
{
	const double z = errors_of(k, ASSAY_BLAME_CHANCE / (double)k->p.n);

	if (fabs(f->change - k->p.whole_ns) > z * hypot(f->error, k->p.whole_error))
		return false;
	for (size_t i = 0; i < k->p.n; i++)
		if (&k->p.v[i] != f && fabs(k->p.v[i].change) > z * k->p.v[i].error)
			return false;
	return true;
}

/* The one function that it lies in; NULL: there is none, or it is not known. */
static const struct assay_function_part *find_single(const struct blaming *k)
{
	const struct assay_function_part *f = k->p.n ? &k->p.v[k->p.most] : NULL;

	if (!f || f->probability < 1 - ASSAY_BLAME_CHANCE || f->change * k->p.whole_ns <= 0 || !fits(k, f))
		return NULL;
	return is_only_one(k, f) || moved_by(k, f, k->p.whole_ns, 0) ? f : NULL;
}

/* As much of something that surely went the other way as would be named: code went from one function to another. */
static bool code_moved(const struct blaming *k)
{
	for (size_t i = 0; i < k->p.n; i++)
		if (fabs(k->p.v[i].change) >= ALSO_FRAC * fabs(k->p.whole_ns) && went_back(k, &k->p.v[i]))
			return true;
	return false;
}

/* The uncertainty of the whole change goes to each function by its share of it. */
static struct assay_interval interval_of(const struct blaming *k, const struct assay_function_part *f)
{
	const double half = errors_of(k, 1 - LEVEL) * f->error, share = f->change / k->p.whole_ns * k->p.base_ns;

	return (struct assay_interval){ f->change - hypot(half, share * (k->ratio - k->ci.lo)),
					f->change + hypot(half, share * (k->ci.hi - k->ratio)) };
}

/* "matmul_gemv_tile (matmul_ternary_tile.h:120-141) takes +1.9 us (+1.7 us to +2.1 us)" */
static size_t add_function(const struct blaming *k, const struct assay_function_part *p, char *buf, size_t size)
{
	const struct assay_because_function *f = p->f;
	const struct assay_interval ci = interval_of(k, p);
	char change[48], lo[48], hi[48], place[192] = "";

	change_text(p->change, change, sizeof(change));
	change_text(ci.lo, lo, sizeof(lo));
	change_text(ci.hi, hi, sizeof(hi));
	if (f->line && f->last_line > f->line)
		snprintf(place, sizeof(place), " (%.128s:%u-%u)", f->file, f->line, f->last_line);
	else if (f->line)
		snprintf(place, sizeof(place), " (%.128s:%u)", f->file, f->line);
	else if (f->object[0])
		snprintf(place, sizeof(place), " (%.128s)", f->object);
	return (size_t)snprintf(buf, size, "%.100s%s takes %s (%s to %s)", f->name[0] ? f->name : "[unknown]", place,
				change, lo, hi);
}

static void take(const struct blaming *k, const struct assay_function_part *p)
{
	const struct assay_interval ci = interval_of(k, p);
	const struct assay_because_function *f = p->f;
	struct assay_gate_because *out = k->out;
	const bool counted = f->counted[0] >= 0 && f->counted[1] >= 0 && f->counted[0] != f->counted[1];

	snprintf(out->function, sizeof(out->function), "%s", f->name);
	snprintf(out->object, sizeof(out->object), "%s", f->object);
	snprintf(out->file, sizeof(out->file), "%s", f->file);
	out->line = f->line;
	out->last_line = f->last_line;
	out->change_ns = p->change;
	out->ci_lo_ns = ci.lo;
	out->ci_hi_ns = ci.hi;
	out->evidence = !is_only_one(k, p) ? ASSAY_BECAUSE_SAMPLED : counted ? ASSAY_BECAUSE_EXACT : ASSAY_BECAUSE_CODE;
}

/* What is known besides samples, behind the sentence. */
static void add_evidence(const struct blaming *k, const struct assay_function_part *p)
{
	struct assay_gate_because *out = k->out;
	const double more = p->f->counted[1] - p->f->counted[0];
	const size_t at = strlen(out->text);

	if (out->evidence == ASSAY_BECAUSE_EXACT)
		snprintf(out->text + at, sizeof(out->text) - at,
			 "; a call executes %.0f instructions %s of it, and of no other function", fabs(more),
			 more > 0 ? "more" : "fewer");
	else if (out->evidence == ASSAY_BECAUSE_CODE)
		snprintf(out->text + at, sizeof(out->text) - at, "; no other function's machine code differs");
}

/* What the named ones leave of the change, where that is more than chance. */
static void add_rest(const struct blaming *k, double sum, double error)
{
	struct assay_gate_because *out = k->out;
	const double rest = k->p.whole_ns - sum;
	const size_t at = strlen(out->text);
	char text[48];

	if (fabs(rest) <= errors_of(k, 1 - LEVEL) * hypot(error, k->p.whole_error))
		return;
	change_text(rest, text, sizeof(text));
	snprintf(out->text + at, sizeof(out->text) - at, "; where the other %s lies is not known", text);
}

/* Add up to MOST_NAMED functions to the text; of what went the other way, too, where code moved. How many. */
static size_t add_functions(const struct blaming *k, bool moved)
{
	struct assay_gate_because *out = k->out;
	size_t named = 0, at = strlen(out->text);
	double sum = 0, squares = 0;
	char whole[48];

	for (size_t i = 0; i < k->p.n && named < MOST_NAMED && at < sizeof(out->text); i++) {
		const struct assay_function_part *p = &k->p.v[i];

		if (!stands_out(k, p, named || moved) && !(moved && went_back(k, p)))
			continue;
		/* the parts are no more than the whole */
		if (named && !moved &&
		    (fabs(p->change) < ALSO_FRAC * fabs(k->p.whole_ns) ||
		     fabs(sum + p->change) > (1 + SLACK_FRAC) * fabs(k->p.whole_ns)))
			continue;
		sum += p->change;
		squares += p->error * p->error;
		if (!named && !moved)
			take(k, p);
		at += (size_t)snprintf(out->text + at, sizeof(out->text) - at, "%s", named++ ? ", " : "");
		if (at < sizeof(out->text))
			at += add_function(k, p, out->text + at, sizeof(out->text) - at);
	}
	if (named && !moved && at < sizeof(out->text)) {
		change_text(k->p.whole_ns, whole, sizeof(whole));
		snprintf(out->text + at, sizeof(out->text) - at, " of the %s", whole);
		add_rest(k, sum, sqrt(squares));
	}
	return named;
}

/* How long it takes until half of the change would stand out in any function. */
static void say_what_would_do(const struct blaming *k)
{
	const double seconds = k->e->seconds;
	double widest = 0, needed;
	char change[48], enough[64];

	for (size_t i = 0; i < k->p.n; i++)
		widest = fmax(widest, errors_of(k, ASSAY_BLAME_CHANCE / (double)k->p.n) * k->p.v[i].error);
	change_text(k->p.whole_ns, change, sizeof(change));
	needed = seconds * pow(widest / (fabs(k->p.whole_ns) / 2), 2);
	if (needed <= seconds)
		snprintf(enough, sizeof(enough), "it is spread over several functions");
	else if (!(needed <= LONG_S))
		snprintf(enough, sizeof(enough), "even an hour of samples would not tell");
	else
		snprintf(enough, sizeof(enough), "--profile-for %.0fs would tell", ceil(needed / 10) * 10);
	snprintf(k->out->text, sizeof(k->out->text),
		 "because of no single function that is known: %s is %.0f of %.0f samples in %.*f s; %s", change,
		 fabs(1 - 1 / k->ratio) * k->p.samples[1], k->p.samples[1], seconds < 1, seconds, enough);
}

/* Did the sides differ while they were profiled as when they were measured? */
static bool agrees(const struct blaming *k, struct assay_interval *profiled)
{
	const struct assay_because_evidence *e = k->e;
	const double slack = SLACK_FRAC * fabs(k->ratio - 1);
	double x[ASSAY_BECAUSE_PAIRS_MAX];

	for (size_t i = 0; i < e->n_pairs; i++)
		x[i] = e->pairs[i].head_ns / e->pairs[i].base_ns;
	*profiled = e->n_pairs > 1 ? assay_stats_groups_ci(x, e->n_pairs, 1 - ASSAY_BLAME_CHANCE)
				   : (struct assay_interval){ 0, INFINITY };
	return profiled->lo <= k->ci.hi + slack && profiled->hi >= k->ci.lo - slack;
}

static void explain_single(const struct blaming *k, const struct assay_function_part *f)
{
	struct assay_gate_because *out = k->out;
	char whole[48];
	size_t at = (size_t)snprintf(out->text, sizeof(out->text), "because ");

	take(k, f);
	at += add_function(k, f, out->text + at, sizeof(out->text) - at);
	change_text(k->p.whole_ns, whole, sizeof(whole));
	if (at < sizeof(out->text))
		snprintf(out->text + at, sizeof(out->text) - at, " of the %s", whole);
	add_evidence(k, f);
}

static void explain(const struct blaming *k)
{
	struct assay_gate_because *out = k->out;
	const struct assay_function_part *single;
	struct assay_interval profiled;
	const bool moved = code_moved(k);
	char whole[48];

	if (!(k->p.samples[0] > 0 && k->p.samples[1] > 0)) {
		snprintf(out->text, sizeof(out->text), "because of what is not known: no samples were taken");
		return;
	}
	if (!agrees(k, &profiled)) {
		snprintf(out->text, sizeof(out->text),
			 "because of what is not known: while they were profiled, the sides differed by %+.2f to "
			 "%+.2f %%, when they were measured by %+.2f to %+.2f %%",
			 100 * (profiled.lo - 1), 100 * (profiled.hi - 1), 100 * (k->ci.lo - 1), 100 * (k->ci.hi - 1));
		return;
	}
	single = find_single(k);
	if (single) {
		explain_single(k, single);
		return;
	}
	change_text(k->p.whole_ns, whole, sizeof(whole));
	snprintf(out->text, sizeof(out->text),
		 moved ? "because of no single function that is known, of the %s work "
			 "moved between functions: "
		       : "because ",
		 whole);
	if (!add_functions(k, moved))
		say_what_would_do(k);
}

int assay_function_blame(const struct assay_because_evidence *e, double ratio, struct assay_interval ci,
			 struct assay_gate_because *out, struct assay_err *err)
{
	struct blaming *k = calloc(1, sizeof(*k));

	if (!k)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	*k = (struct blaming){ .e = e, .ratio = ratio, .ci = ci, .out = out };
	*out = (struct assay_gate_because){ .asked = true,
					    .change_ns = NAN,
					    .ci_lo_ns = NAN,
					    .ci_hi_ns = NAN,
					    .whole_ns = NAN,
					    .seconds = e->seconds };
	if (e->unknown[0]) {
		snprintf(out->text, sizeof(out->text), "because of what is not known: %.400s", e->unknown);
	} else {
		assay_function_parts(&k->p, e, ratio, ci);
		out->whole_ns = k->p.whole_ns;
		out->samples = (uint64_t)(k->p.samples[0] + k->p.samples[1]);
		explain(k);
	}
	free(k);
	return 0;
}

static struct assay_gate_case *timed_row(struct assay_gate_report *r, const char *key)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		struct assay_gate_case *c = &r->cases[i];

		if (!strcmp(c->key, key) && !strcmp(c->metric, "time_s") && c->evidence == ASSAY_EVIDENCE_PAIRED &&
		    isfinite(c->ratio) && isfinite(c->ci_lo))
			return c;
	}
	return NULL;
}

int assay_function_blame_cases(const struct assay_comparison *cmp, struct assay_gate_report *r, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < cmp->n_cases && !rc; i++) {
		const struct assay_comparison_case *c = &cmp->cases[i];
		struct assay_gate_case *row =
			c->because && c->control == ASSAY_CONTROL_NONE ? timed_row(r, c->c.key) : NULL;

		if (row)
			rc = assay_function_blame(c->because, row->ratio,
						  (struct assay_interval){ row->ci_lo, row->ci_hi }, &row->because,
						  err);
	}
	return rc;
}
