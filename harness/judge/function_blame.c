/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/function_blame.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/paired.h"
#include "model/quantity.h"
#include "model/result.h"
#include "stats/distributions.h"
#include "stats/stats.h"

#define ALSO_FRAC  0.2 /* of the whole change that a further function takes to be named, too */
#define LONG_S     3600
#define SLACK_FRAC 0.1 /* of the change: sampling costs a little on both sides */
#define LEVEL      0.95

struct blaming {
	const struct assay_because_evidence *e;
	double ratio;
	struct assay_interval ci;
	const char *of; /* what the whole change is one of; "": of the time of a call */
	struct assay_function_parts p;
	struct assay_gate_because *out;
};

static void change_text(double ns, char *buf, size_t size)
{
	char text[40];

	assay_quantity_text(fabs(ns) * 1e-9, "s", true, text, sizeof(text));
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

/* Is the function known to be the cause by more than samples? */
static enum assay_because_evidence_kind evidence_of(const struct blaming *k, const struct assay_function_part *p)
{
	const struct assay_because_function *f = p->f;
	const bool counted = f->counted[0] >= 0 && f->counted[1] >= 0 && f->counted[0] != f->counted[1];

	return !is_only_one(k, p) ? ASSAY_BECAUSE_SAMPLED : counted ? ASSAY_BECAUSE_EXACT : ASSAY_BECAUSE_CODE;
}

/*
 * The uncertainty of the whole change goes to each function by its share of it. Where nothing but this function can
 * have changed, the samples add none.
 */
static struct assay_interval interval_of(const struct blaming *k, const struct assay_because_part *part, double error)
{
	const double half = part->evidence == ASSAY_BECAUSE_SAMPLED ? errors_of(k, 1 - LEVEL) * error : 0;
	const double share = part->change_ns / k->p.whole_ns * k->p.base_ns;
	const double below = hypot(half, share * (k->ratio - k->ci.lo)),
		     above = hypot(half, share * (k->ci.hi - k->ratio));

	return (struct assay_interval){ part->change_ns - below, part->change_ns + above };
}

/* "matmul_gemv_tile (matmul_ternary_tile.h:120-141) takes +1.9 µs (+1.7 µs to +2.1 µs)" */
static void add_part_text(const struct blaming *k, const struct assay_because_part *part)
{
	struct assay_gate_because *out = k->out;
	const size_t at = strlen(out->text);
	char change[48], lo[48], hi[48], place[192] = "";

	change_text(part->change_ns, change, sizeof(change));
	change_text(part->ci_lo_ns, lo, sizeof(lo));
	change_text(part->ci_hi_ns, hi, sizeof(hi));
	if (part->line && part->last_line > part->line)
		snprintf(place, sizeof(place), " (%.128s:%u-%u)", part->file, part->line, part->last_line);
	else if (part->line)
		snprintf(place, sizeof(place), " (%.128s:%u)", part->file, part->line);
	else if (part->function[0] && part->object[0])
		snprintf(place, sizeof(place), " (%.128s)", part->object);
	snprintf(out->text + at, sizeof(out->text) - at, "%.100s%s takes %s (%s to %s)",
		 part->function[0] ? part->function
		 : part->object[0] ? part->object
				   : "[unknown]",
		 place, change, lo, hi);
}

static void add_text(const struct blaming *k, const char *before, double ns, const char *after)
{
	struct assay_gate_because *out = k->out;
	const size_t at = strlen(out->text);
	char text[48];

	change_text(ns, text, sizeof(text));
	snprintf(out->text + at, sizeof(out->text) - at, "%s%s%s", before, text, after);
}

/* Append the facts known besides samples to the sentence. */
static void add_evidence(const struct blaming *k, const struct assay_function_part *p)
{
	struct assay_gate_because *out = k->out;
	const double more = p->f->counted[1] - p->f->counted[0];
	const enum assay_because_evidence_kind evidence = evidence_of(k, p);
	const size_t at = strlen(out->text);

	if (evidence == ASSAY_BECAUSE_EXACT)
		snprintf(out->text + at, sizeof(out->text) - at,
			 "; a call executes %.0f instructions %s of it, and of no other function", fabs(more),
			 more > 0 ? "more" : "fewer");
	else if (evidence == ASSAY_BECAUSE_CODE)
		snprintf(out->text + at, sizeof(out->text) - at, "; no other function's machine code differs");
}

/*
 * Take the change apart into the functions @v. If the samples' sum misses the whole change by no more than chance
 * explains, at the level at which functions are blamed, the difference goes to the functions by their variances: the
 * least-squares estimate of parts that sum to a known whole. Otherwise it is told as a rest.
 */
static void take_apart(const struct blaming *k, const struct assay_function_part *const v[], size_t n)
{
	struct assay_gate_because *out = k->out;
	double sum = 0, squares = 0, rest;

	for (size_t i = 0; i < n; i++) {
		sum += v[i]->change;
		squares += v[i]->error * v[i]->error;
	}
	rest = k->p.whole_ns - sum;
	if (fabs(rest) > errors_of(k, ASSAY_BLAME_CHANCE / (double)k->p.n) * hypot(sqrt(squares), k->p.whole_error)) {
		out->rest_ns = rest;
		rest = 0;
	}
	for (size_t i = 0; i < n; i++) {
		const struct assay_because_function *f = v[i]->f;
		struct assay_because_part *part = &out->parts[out->n_parts++];
		struct assay_interval ci;

		*part = (struct assay_because_part){
			.line = f->line,
			.last_line = f->last_line,
			.change_ns = v[i]->change + rest * v[i]->error * v[i]->error / squares,
			.evidence = evidence_of(k, v[i]),
		};
		snprintf(part->function, sizeof(part->function), "%s", f->name);
		snprintf(part->object, sizeof(part->object), "%s", f->object);
		snprintf(part->file, sizeof(part->file), "%s", f->file);
		ci = interval_of(k, part, v[i]->error);
		part->ci_lo_ns = ci.lo;
		part->ci_hi_ns = ci.hi;
		snprintf(out->text + strlen(out->text), sizeof(out->text) - strlen(out->text), "%s", i ? ", " : "");
		add_part_text(k, part);
	}
}

/* Up to as many functions as can be named; of what went the other way, too, where code moved. */
static size_t choose(const struct blaming *k, bool moved, const struct assay_function_part *out[])
{
	size_t n = 0;
	double sum = 0;

	for (size_t i = 0; i < k->p.n && n < ASSAY_BECAUSE_PARTS_MAX; i++) {
		const struct assay_function_part *p = &k->p.v[i];

		if (!stands_out(k, p, n || moved) && !(moved && went_back(k, p)))
			continue;
		/* the parts are no more than the whole */
		if (n && !moved &&
		    (fabs(p->change) < ALSO_FRAC * fabs(k->p.whole_ns) ||
		     fabs(sum + p->change) > (1 + SLACK_FRAC) * fabs(k->p.whole_ns)))
			continue;
		sum += p->change;
		out[n++] = p;
	}
	return n;
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
		snprintf(enough, sizeof(enough), "an hour of samples would not show it either");
	else
		snprintf(enough, sizeof(enough), "--profile-for %.0fs would show it", ceil(needed / 10) * 10);
	snprintf(k->out->text, sizeof(k->out->text),
		 "cause unknown: no single function stands out; %s is %.0f of %.0f samples in %.*f s; %s", change,
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

static void explain_parts(const struct blaming *k, const struct assay_function_part *const v[], size_t n)
{
	struct assay_gate_because *out = k->out;

	snprintf(out->text, sizeof(out->text), "because ");
	take_apart(k, v, n);
	if (out->rest_ns != 0) {
		add_text(k, " of the ", k->p.whole_ns, "");
		add_text(k, "; the cause of the other ", out->rest_ns, " is unknown");
	} else if (n > 1) {
		add_text(k, "; together ", k->p.whole_ns, ", the whole change");
	} else {
		snprintf(out->text + strlen(out->text), sizeof(out->text) - strlen(out->text), ", the whole change");
	}
	if (out->rest_ns == 0)
		snprintf(out->text + strlen(out->text), sizeof(out->text) - strlen(out->text), "%s", k->of);
	if (n == 1)
		add_evidence(k, v[0]);
}

/* Parts of code that moved are told, but none of them is the cause. */
static void explain_moved(const struct blaming *k, const struct assay_function_part *const v[], size_t n)
{
	struct assay_gate_because *out = k->out;

	add_text(k, "cause unknown: work moved between functions, ", k->p.whole_ns, " in all: ");
	take_apart(k, v, n);
	if (out->rest_ns != 0)
		add_text(k, ", and others ", out->rest_ns, "");
	out->n_parts = 0;
	out->rest_ns = 0;
}

static void explain(const struct blaming *k)
{
	struct assay_gate_because *out = k->out;
	const struct assay_function_part *single, *parts[ASSAY_BECAUSE_PARTS_MAX];
	struct assay_interval profiled;
	const bool moved = code_moved(k);
	size_t n;

	if (!(k->p.samples[0] > 0 && k->p.samples[1] > 0)) {
		snprintf(out->text, sizeof(out->text), "cause unknown: no samples were taken");
		return;
	}
	if (!agrees(k, &profiled)) {
		snprintf(out->text, sizeof(out->text),
			 "cause unknown: while they were profiled, the sides differed by %+.2f to %+.2f %%, when they "
			 "were measured by %+.2f to %+.2f %%",
			 100 * (profiled.lo - 1), 100 * (profiled.hi - 1), 100 * (k->ci.lo - 1), 100 * (k->ci.hi - 1));
		return;
	}
	single = find_single(k);
	if (single) {
		explain_parts(k, &single, 1);
		return;
	}
	n = choose(k, moved, parts);
	if (n && moved)
		explain_moved(k, parts, n);
	else if (n)
		explain_parts(k, parts, n);
	else
		say_what_would_do(k);
}

/* Time of an iteration of the base, in ns: the median over the pairs that were compared. NaN: not known. */
static double base_ns_of(const struct assay_comparison_case *c)
{
	double *of_pair = calloc(c->n_pairs + 1, sizeof(*of_pair)), *ns, result = NAN;
	size_t pairs = 0;

	for (size_t i = 0; of_pair && i < c->n_pairs; i++) {
		const struct assay_result *s = &c->pairs[i].side[ASSAY_BASE];
		const size_t n_samples = s->status == ASSAY_STATUS_OK ? 2 * c->pairs[i].n_blocks : 0;
		size_t n;

		ns = calloc(n_samples + 1, sizeof(*ns));
		n = ns ? assay_call_times(s->samples, n_samples, ns) : 0;
		if (n) {
			assay_stats_sort(ns, n);
			of_pair[pairs++] = assay_stats_median(ns, n);
		}
		free(ns);
	}
	if (pairs) {
		assay_stats_sort(of_pair, pairs);
		result = assay_stats_median(of_pair, pairs);
	}
	free(of_pair);
	return result;
}

static bool is_time(const struct assay_gate_case *row)
{
	return !strcmp(row->metric, "time_s");
}

/* The ratio of the times of processes, head to base, and its 95 % interval; infinitely wide below two usable pairs. */
static int read_times(const struct assay_comparison_case *c, double *ratio, struct assay_interval *ci,
		      struct assay_err *err)
{
	struct assay_paired_readings r;
	double half = INFINITY;
	int rc = assay_paired_readings(c, NULL, &r, err);

	if (rc)
		return rc;
	if (r.n > 1)
		half = assay_stats_t_quantile(1 - (1 - LEVEL) / 2, (double)r.n - 1) * r.sd / sqrt((double)r.n);
	*ratio = exp(r.mean);
	*ci = (struct assay_interval){ exp(r.mean - half), exp(r.mean + half) };
	return 0;
}

bool assay_function_blame_applies(const struct assay_comparison_case *c, const struct assay_gate_case *row)
{
	const struct assay_metric *m;
	struct assay_interval ci;
	double ratio;
	size_t length;

	if (row->evidence != ASSAY_EVIDENCE_PAIRED || !isfinite(row->ratio) || !isfinite(row->ci_lo) || !c->n_pairs)
		return false;
	if (is_time(row))
		return true;
	m = assay_result_metric(&c->pairs[0].side[ASSAY_BASE], row->metric);
	length = m ? strlen(m->unit) : 0;
	if (!length || (strcmp(m->unit, "s") && (length < 2 || strcmp(m->unit + length - 2, "/s"))))
		return false;
	return !read_times(c, &ratio, &ci, NULL) && (row->ratio > 1 ? ci.lo > 1 : ci.hi < 1);
}

int assay_function_blame(const struct assay_comparison_case *c, const struct assay_gate_case *row,
			 struct assay_gate_because *out, struct assay_err *err)
{
	const struct assay_because_evidence *e = c->because;
	const double base_ns = base_ns_of(c);
	struct assay_interval ci = { row->ci_lo, row->ci_hi };
	double ratio = row->ratio;
	int rc = is_time(row) ? 0 : read_times(c, &ratio, &ci, err);
	struct blaming *k = rc ? NULL : calloc(1, sizeof(*k));

	if (rc)
		return rc;
	if (!k)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	*k = (struct blaming){
		.e = e, .ratio = ratio, .ci = ci, .of = is_time(row) ? "" : " of the time of a process", .out = out
	};
	*out = (struct assay_gate_because){ .asked = true,
					    .whole_ns = base_ns * (ratio - 1),
					    .whole_lo_ns = base_ns * (ci.lo - 1),
					    .whole_hi_ns = base_ns * (ci.hi - 1),
					    .seconds = e->seconds };
	if (e->unknown[0]) {
		snprintf(out->text, sizeof(out->text), "cause unknown: %.400s", e->unknown);
	} else if (!isfinite(base_ns)) {
		snprintf(out->text, sizeof(out->text), "cause unknown: the times of the base are gone");
	} else {
		assay_function_parts(&k->p, e, base_ns, ratio, ci);
		out->samples = (uint64_t)(k->p.samples[0] + k->p.samples[1]);
		explain(k);
	}
	free(k);
	return 0;
}

/* The row that the functions of @c explain: the first that changed, else the first. NULL: none. */
static struct assay_gate_case *explained_row(const struct assay_comparison_case *c, struct assay_gate_report *r)
{
	struct assay_gate_case *first = NULL;

	for (size_t i = 0; i < r->n_cases; i++) {
		struct assay_gate_case *row = &r->cases[i];

		if (strcmp(row->key, c->c.key) != 0 || !assay_function_blame_applies(c, row))
			continue;
		if (row->verdict == ASSAY_REGRESSED || row->verdict == ASSAY_IMPROVED)
			return row;
		first = first ? first : row;
	}
	return first;
}

int assay_function_blame_cases(const struct assay_comparison *cmp, struct assay_gate_report *r, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < cmp->n_cases && !rc; i++) {
		const struct assay_comparison_case *c = &cmp->cases[i];
		struct assay_gate_case *row =
			c->because && c->control == ASSAY_CONTROL_NONE ? explained_row(c, r) : NULL;

		if (row)
			rc = assay_function_blame(c, row, &row->because, err);
	}
	return rc;
}
