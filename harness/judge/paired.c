/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs to an interval, the interval to a verdict. Method and sources: README.md of this folder. */
#include "judge/paired.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"
#include "stats/stats.h"

#define COUNTED_PAIRS   3 /* that a difference of what is counted takes */
#define SAME_CODE_TRIES 5 /* to get one usable pair of what does not matter */
/* A margin beyond this is no advice. */
#define MOST_ADVISED_FRAC 0.5
/* A factor that counts as shown by times of which too many were disturbed. */
#define BEYOND_DOUBT 2.0

static const char *const kind_names[ASSAY_N_DISTURB] = {
	"involuntary switches",
	"migrations",
	"steal",
	"page faults",
	"throttling",
	"changes of frequency",
	"other work on the CPUs",
	"slow cores",
	"throttling of the device",
};

struct assay_paired_rule assay_paired_rule_of(double alpha, double alpha_pass, unsigned family, double margin_frac,
					      double max_dropped_frac, size_t max_pairs)
{
	return (struct assay_paired_rule){
		.alpha_regressed = alpha / (family ? family : 1),
		.alpha_pass = alpha_pass,
		.margin_frac = margin_frac,
		.max_dropped_frac = max_dropped_frac,
		.max_pairs = max_pairs,
		.same_code_pairs = 1,
		.budgets = 1,
	};
}

/* ---- verdicts that need no statistics ---- */

static void decide(struct assay_gate_case *out, enum assay_verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void decide(struct assay_gate_case *out, enum assay_verdict verdict, const char *fmt, ...)
{
	va_list ap;

	out->verdict = verdict;
	va_start(ap, fmt);
	vsnprintf(out->reason, sizeof(out->reason), fmt, ap);
	va_end(ap);
}

/* A side that did not end well. The head's faults are verdicts on it; the base's leave nothing to compare with. */
static bool judge_side(const struct assay_result *s, int side, struct assay_gate_case *out)
{
	const char *who = side == ASSAY_HEAD ? "head" : "base";

	if (s->status == ASSAY_STATUS_OK)
		return false;
	if (side == ASSAY_BASE)
		decide(out, ASSAY_INCOMPARABLE, "%s %s: %.400s", who, assay_status_name(s->status), s->reason);
	else if (s->status == ASSAY_STATUS_WRONG)
		decide(out, ASSAY_WRONG_RESULT, "%s: %.400s", who, s->reason);
	else
		decide(out, ASSAY_NOT_MEASURED, "%s %s: %.400s", who, assay_status_name(s->status), s->reason);
	return true;
}

/* In the pairs of a case that the base lacks both sides are the head's. */
static void judge_new(const struct assay_comparison_case *c, struct assay_gate_case *out)
{
	for (size_t i = 0; i < c->n_pairs; i++)
		for (int side = 0; side < 2; side++)
			if (judge_side(&c->pairs[i].side[side], ASSAY_HEAD, out))
				return;
	decide(out, ASSAY_PASS, "new: the base has no such case");
	out->is_new = true;
}

static bool judge_presence(const struct assay_comparison_case *c, struct assay_gate_case *out)
{
	if (!c->in_head)
		decide(out, ASSAY_NOT_MEASURED, "%.500s", c->reason[0] ? c->reason : ASSAY_CASE_GONE);
	else if (!c->in_base && c->reason[0])
		decide(out, ASSAY_INCOMPARABLE, "%.500s", c->reason);
	else if (c->reason[0])
		decide(out, ASSAY_NOT_MEASURED, "%.500s", c->reason);
	else if (c->difference[0])
		decide(out, ASSAY_WRONG_RESULT, "%.250s", c->difference);
	else if (!c->in_base)
		judge_new(c, out);
	else
		return false;
	out->evidence = ASSAY_EVIDENCE_NONE;
	return true;
}

/* ---- statistics ---- */

struct pile {
	double *x;            /* log ratios of usable pairs */
	double *least, *most; /* of each pair, between which its log ratio lies whatever disturbed it */
	double *likely;
	size_t n, n_all, n_blocks;
	double dropped; /* of the blocks, by weight */
	size_t by_kind[ASSAY_N_DISTURB];
	double *tmp;
};

static int pile_open(struct pile *p, const struct assay_comparison_case *c, struct assay_err *err)
{
	size_t most = 0;

	*p = (struct pile){ 0 };
	for (size_t i = 0; i < c->n_pairs; i++)
		most = c->pairs[i].n_blocks > most ? c->pairs[i].n_blocks : most;
	p->x = malloc((4 * c->n_pairs + ASSAY_PAIR_TMP * most + 1) * sizeof(*p->x));
	if (!p->x)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory while judging '%s'", c->c.key);
	p->least = p->x + c->n_pairs;
	p->most = p->least + c->n_pairs;
	p->likely = p->most + c->n_pairs;
	p->tmp = p->likely + c->n_pairs;
	return 0;
}

static bool is_time(const char *metric)
{
	return !metric || !metric[0] || !strcmp(metric, "time_s");
}

/* How much worse the head's value is; NaN: one of them is missing, or none that a ratio can be made of. */
static double log_ratio_of(const struct assay_pair *pair, const char *metric)
{
	const struct assay_metric *base = assay_result_metric(&pair->side[ASSAY_BASE], metric);
	const struct assay_metric *head = assay_result_metric(&pair->side[ASSAY_HEAD], metric);

	if (!base || !head || !(base->value > 0) || !(head->value > 0))
		return NAN;
	return (head->better > 0 ? -1 : 1) * log(head->value / base->value);
}

static void pile_add_metric(struct pile *p, const struct assay_pair *pair, const char *metric)
{
	const double x = log_ratio_of(pair, metric);

	p->least[p->n_all] = p->most[p->n_all] = p->likely[p->n_all] = x;
	p->n_all++;
	p->n_blocks += pair->n_blocks;
	if (isfinite(x))
		p->x[p->n++] = x;
	else
		p->dropped += (double)pair->n_blocks;
}

static void pile_add(struct pile *p, const struct assay_pair *pair, const char *metric)
{
	if (is_time(metric)) {
		struct assay_pair_estimate e = assay_pair_estimate(pair, p->tmp);
		struct assay_pair_range range = assay_pair_range(pair, p->tmp);

		p->least[p->n_all] = range.least;
		p->likely[p->n_all] = range.likely;
		p->most[p->n_all++] = range.most;
		p->n_blocks += e.n_blocks;
		/* of a pair that is left out, nothing counts */
		p->dropped += e.usable ? e.dropped_weight : (double)e.n_blocks;
		for (unsigned k = 0; k < ASSAY_N_DISTURB; k++)
			p->by_kind[k] += e.by_kind[k];
		if (e.usable)
			p->x[p->n++] = e.log_ratio;
	} else {
		pile_add_metric(p, pair, metric);
	}
}

static double dropped_frac(const struct pile *p)
{
	return p->n_blocks ? p->dropped / (double)p->n_blocks : 0;
}

/* Does so much have to be left out that what the rest says is not enough? Then the ranges of all pairs are judged. */
static bool too_disturbed(const struct pile *p, const struct assay_paired_rule *rule)
{
	return dropped_frac(p) > rule->max_dropped_frac;
}

static const char *main_disturbance(const struct pile *p)
{
	unsigned worst = 0;

	for (unsigned k = 1; k < ASSAY_N_DISTURB; k++)
		if (p->by_kind[k] > p->by_kind[worst])
			worst = k;
	return kind_names[worst];
}

struct bounds {
	double mean, lo, hi;
	double hi_strict; /* an upper bound whose error rate is at most that of lo */
};

struct assay_sequential_rule assay_paired_sequential(const struct assay_paired_rule *rule)
{
	return (struct assay_sequential_rule){ rule->alpha_regressed, rule->alpha_pass, rule->max_pairs,
					       ASSAY_PAIRED_SD_FLOOR };
}

static struct bounds bounds_of(const double *x, size_t n, const struct assay_paired_rule *rule)
{
	const struct assay_sequential_rule sr = assay_paired_sequential(rule);
	struct assay_interval ci = assay_sequential_interval(x, n, &sr);
	double mean = assay_stats_mean(x, n);

	return (struct bounds){ mean, ci.lo, ci.hi, mean + (mean - ci.lo) };
}

static bool all_finite(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static void fill_ratio(double mean, double lo, double hi, struct assay_gate_case *out)
{
	out->ratio = exp(mean);
	out->ci_lo = exp(lo);
	out->ci_hi = exp(hi);
	/* two pairs that lie apart may leave no bound at all */
	if (!isfinite(out->ci_lo) || !isfinite(out->ci_hi) || out->ci_lo <= 0)
		out->ci_lo = out->ci_hi = NAN;
}

/*
 * Where too much was disturbed: from the least that the ranges of the pairs allow to the most, infinite where they
 * allow anything. Disturbances do not know whose turn it is, since that is drawn, so they hide a large factor rather
 * than make one: if the times as they are show more than BEYOND_DOUBT, that is a bound as well.
 */
static struct bounds range_of_pairs(const struct pile *p, const struct assay_paired_rule *rule)
{
	struct bounds b = { NAN, -INFINITY, INFINITY, INFINITY };

	if (p->n_all < 2)
		return b;
	if (all_finite(p->least, p->n_all))
		b.lo = bounds_of(p->least, p->n_all, rule).lo;
	if (all_finite(p->most, p->n_all))
		b.hi_strict = bounds_of(p->most, p->n_all, rule).hi_strict;
	if (all_finite(p->likely, p->n_all)) {
		const struct bounds likely = bounds_of(p->likely, p->n_all, rule);

		b.mean = likely.mean;
		if (likely.lo > log(BEYOND_DOUBT))
			b.lo = fmax(b.lo, likely.lo);
		if (likely.hi_strict < -log(BEYOND_DOUBT))
			b.hi_strict = fmin(b.hi_strict, likely.hi_strict);
	}
	b.hi = b.hi_strict;
	return b;
}

static void fill_numbers(const struct pile *p, const struct assay_paired_rule *rule, struct assay_gate_case *out)
{
	const struct assay_sequential_rule sr = assay_paired_sequential(rule);
	struct bounds b;

	out->dropped_frac = dropped_frac(p);
	if (too_disturbed(p, rule)) {
		out->pairs = p->n_all;
		b = range_of_pairs(p, rule);
		if (isfinite(b.lo) && isfinite(b.hi))
			fill_ratio(b.mean, b.lo, b.hi, out);
		return;
	}
	out->pairs = p->n;
	if (p->n)
		out->ratio = exp(assay_stats_mean(p->x, p->n));
	if (p->n < 2)
		return;
	b = bounds_of(p->x, p->n, rule);
	fill_ratio(b.mean, b.lo, b.hi, out);
	out->smallest_detectable_frac =
		expm1(assay_sequential_detectable(p->x, p->n, &sr, log1p(rule->margin_frac), ASSAY_PAIRED_POWER));
}

/* Is the head too slow, or faster, whatever disturbed either side? */
static enum assay_verdict look_at_ranges(const struct pile *p, bool last, const struct assay_paired_rule *rule)
{
	const double margin = log1p(rule->margin_frac);
	struct bounds b;

	if (!assay_sequential_is_look(p->n_all, last, rule->alpha_regressed, rule->max_pairs))
		return ASSAY_INCONCLUSIVE;
	b = range_of_pairs(p, rule);
	if (b.lo > margin)
		return ASSAY_REGRESSED;
	return b.hi_strict < -margin ? ASSAY_IMPROVED : ASSAY_INCONCLUSIVE;
}

/*
 * The verdict after these pairs; INCONCLUSIVE: go on. @last: no pair follows. *passes is set at a look if the case
 * would pass but looks faster, so that it gets more pairs, which may show the improvement.
 */
static enum assay_verdict look(const struct pile *p, bool last, const struct assay_paired_rule *rule, bool *passes)
{
	bool differ = assay_sequential_is_look(p->n, last, rule->alpha_regressed, rule->max_pairs);
	bool pass = assay_sequential_is_look(p->n, last, rule->alpha_pass, rule->max_pairs);
	double margin = log1p(rule->margin_frac);
	struct bounds b;

	if (pass)
		*passes = false;
	if (!differ && !pass)
		return ASSAY_INCONCLUSIVE;
	b = bounds_of(p->x, p->n, rule);
	if (differ && b.lo > margin)
		return ASSAY_REGRESSED;
	if (differ && b.hi_strict < -margin)
		return ASSAY_IMPROVED;
	if (pass)
		*passes = b.hi <= margin;
	return pass && *passes && (b.mean > -margin || last) ? ASSAY_PASS : ASSAY_INCONCLUSIVE;
}

/*
 * Code that is the same on both sides cannot have become slower; that does not excuse a control, which is there to
 * tell.
 */
bool assay_paired_same_code(const struct assay_comparison_case *c)
{
	return c->n_pairs && c->control == ASSAY_CONTROL_NONE && assay_pair_same_code(&c->pairs[0]);
}

/* Memory or a rate is not slow. */
static const char *worse(const struct assay_gate_case *g)
{
	return is_time(g->metric) ? "slower" : "worse";
}

void assay_paired_suspect(struct assay_gate_case *g)
{
	char reason[sizeof(g->reason)];

	g->suspect = g->verdict == ASSAY_INCONCLUSIVE && g->ratio - 1 > g->margin_frac;
	if (!g->suspect)
		return;
	memcpy(reason, g->reason, sizeof(reason));
	snprintf(g->reason, sizeof(g->reason), "apparently %.3g %% %s: %.480s", (g->ratio - 1) * 100, worse(g), reason);
}

/* The first look after the pairs so far that would decide, were the rest like them; 0: none would. */
static size_t deciding_look(const struct pile *p, const struct assay_paired_rule *rule)
{
	const struct assay_sequential_rule sr = assay_paired_sequential(rule);
	const double mean = assay_stats_mean(p->x, p->n), sd = assay_stats_sd(p->x, p->n);
	const double margin = log1p(rule->margin_frac);

	for (size_t n = p->n + 1; n <= rule->max_pairs; n++) {
		bool last = n == rule->max_pairs;
		bool differ = assay_sequential_is_look(n, last, rule->alpha_regressed, rule->max_pairs);
		bool pass = assay_sequential_is_look(n, last, rule->alpha_pass, rule->max_pairs);
		double far = assay_sequential_half_width(sd, n, sr.alpha_lower, &sr);

		if (pass && mean + assay_sequential_half_width(sd, n, sr.alpha_upper, &sr) <= margin)
			return n;
		if (differ && fabs(mean) - far > margin)
			return n;
	}
	return 0;
}

/* The time in s that so many pairs that count take, and one more, were they like those so far; 0: there are none. */
static double seconds_of(const struct assay_comparison_case *c, const struct pile *p, size_t n)
{
	double wall_s = 0;

	for (size_t i = 0; i < c->n_pairs; i++)
		wall_s += (double)c->pairs[i].wall_ns * 1e-9;
	return ceil((double)(n + 1) * wall_s / (double)(p->n ? p->n : c->n_pairs ? c->n_pairs : 1));
}

/* Pairs after which both a slowdown and a pass may have been seen. */
static size_t first_looks(const struct assay_paired_rule *rule)
{
	const size_t differ = assay_sequential_first_look(rule->alpha_regressed, rule->max_pairs),
		     pass = assay_sequential_first_look(rule->alpha_pass, rule->max_pairs);

	return differ > pass ? differ : pass;
}

/* A remedy for an undecided case, in @out and as "; a budget of 12 s or a margin of 1.6 % would decide it". */
static void advise(const struct assay_comparison_case *c, const struct pile *p, const struct assay_paired_rule *rule,
		   struct assay_gate_case *out, char *buf, size_t size)
{
	const size_t n = deciding_look(p, rule);
	const double hi = bounds_of(p->x, p->n, rule).hi;
	char what[48] = "a quieter host", margin[48] = "";

	if (n) {
		out->deciding_ns = (uint64_t)(seconds_of(c, p, n) * 1e9);
		snprintf(what, sizeof(what), "a budget of %.0f s", seconds_of(c, p, n));
	} else if (p->n < first_looks(rule)) {
		out->deciding_ns = (uint64_t)(seconds_of(c, p, first_looks(rule)) * 1e9);
	}
	if (hi > log1p(rule->margin_frac) && hi < log1p(MOST_ADVISED_FRAC))
		snprintf(margin, sizeof(margin), " or a margin of %.2g %%", 1.1 * 100 * expm1(hi));
	snprintf(buf, size, "; %s%s would decide it", what, margin);
}

bool assay_paired_interval_decides(const struct assay_gate_case *g, const struct assay_paired_rule *rule)
{
	return g->ci_hi <= 1 + rule->margin_frac || g->ci_lo > 1 + rule->margin_frac;
}

static void explain(const struct assay_comparison_case *c, const struct pile *p, const struct assay_paired_rule *rule,
		    struct assay_gate_case *out)
{
	double percent = (out->ratio - 1) * 100, margin = rule->margin_frac * 100;
	size_t first = assay_sequential_first_look(rule->alpha_regressed, rule->max_pairs);
	char advice[128] = "";

	if (p->n > 1 && out->verdict == ASSAY_INCONCLUSIVE && !too_disturbed(p, rule)) {
		advise(c, p, rule, out, advice, sizeof(advice));
	} else if (p->n < 2 && c->n_pairs) {
		out->deciding_ns = (uint64_t)(seconds_of(c, p, first_looks(rule)) * 1e9);
		snprintf(advice, sizeof(advice), ", for which a budget of %.0f s has time",
			 seconds_of(c, p, first_looks(rule)));
	}
	switch (out->verdict) {
	case ASSAY_REGRESSED:
		if (too_disturbed(p, rule))
			decide(out, ASSAY_REGRESSED,
			       "at least %.2f %% slower, whatever disturbed %.0f %% of the samples",
			       expm1(range_of_pairs(p, rule).lo) * 100, dropped_frac(p) * 100);
		else
			decide(out, ASSAY_REGRESSED, "%.2f %% %s, shown to be more than %.3g %%", percent, worse(out),
			       margin);
		break;
	case ASSAY_IMPROVED:
		if (too_disturbed(p, rule))
			decide(out, ASSAY_IMPROVED,
			       "at least %.2f %% faster, whatever disturbed %.0f %% of the samples",
			       -expm1(range_of_pairs(p, rule).hi_strict) * 100, dropped_frac(p) * 100);
		else
			decide(out, ASSAY_IMPROVED, "%.2f %% %s, shown to be more than %.3g %%", -percent,
			       is_time(out->metric) ? "faster" : "better", margin);
		break;
	case ASSAY_PASS:
		if (assay_paired_same_code(c) && !p->n)
			decide(out, ASSAY_PASS, "same machine code, so it was not timed");
		else if (assay_paired_same_code(c))
			decide(out, ASSAY_PASS, "same machine code: any difference is layout and noise");
		else
			decide(out, ASSAY_PASS, "shown to be at most %.2f %% %s (limit %.3g %%)",
			       fmax(0, (out->ci_hi - 1) * 100), worse(out), margin);
		break;
	default:
		if (too_disturbed(p, rule) && !is_time(rule->metric))
			decide(out, ASSAY_INCONCLUSIVE, "it is 0 or below in %.0f %% of the runs, which have no ratio",
			       dropped_frac(p) * 100);
		else if (too_disturbed(p, rule))
			decide(out, ASSAY_INCONCLUSIVE,
			       "host too noisy: %.0f %% of samples discarded (limit %.0f %%), mostly for %s; a quieter "
			       "host would decide it",
			       dropped_frac(p) * 100, rule->max_dropped_frac * 100, main_disturbance(p));
		else if (p->n < 2)
			decide(out, ASSAY_INCONCLUSIVE, "%zu usable pair%s; %zu are needed to report a regression%s",
			       p->n, p->n == 1 ? "" : "s", first, advice);
		else if (p->n < first)
			decide(out, ASSAY_INCONCLUSIVE,
			       "%zu usable pairs; %zu are needed to report a regression, and would detect %.2f %%%s",
			       p->n, first, out->smallest_detectable_frac * 100, advice);
		else
			decide(out, ASSAY_INCONCLUSIVE,
			       "after %zu pairs the change is between %+.2f %% and %+.2f %%%s; minimum detectable "
			       "change "
			       "%.2f %%%s",
			       p->n, (out->ci_lo - 1) * 100, (out->ci_hi - 1) * 100,
			       assay_paired_interval_decides(out, rule) ? ", which counts at the next look" : "",
			       out->smallest_detectable_frac * 100, advice);
	}
}

/* ---- metrics of programs ---- */

/* Is it there in all pairs? Otherwise the case says why not. */
static bool judge_metric_presence(const struct assay_comparison_case *c, const char *metric,
				  struct assay_gate_case *out)
{
	for (size_t i = 0; i < c->n_pairs; i++)
		for (int side = 0; side < 2; side++)
			if (c->pairs[i].n_blocks && !assay_result_metric(&c->pairs[i].side[side], metric)) {
				decide(out, ASSAY_NOT_MEASURED,
				       strcmp(metric, "rss_peak_bytes") ? "the %s does not tell it"
									: "the processes of the %s took no more memory "
									  "than assay itself, so it is not known",
				       side == ASSAY_HEAD ? "head" : "base");
				return true;
			}
	return false;
}

/* The value that all pairs of a side have; NaN: they differ, or it is not counted. */
static double counted_value(const struct assay_comparison_case *c, enum assay_side side, const char *metric)
{
	const struct assay_metric *first = assay_result_metric(&c->pairs[0].side[side], metric);

	if (!assay_unit_is_counted(first->unit))
		return NAN;
	for (size_t i = 1; i < c->n_pairs; i++)
		if (assay_result_metric(&c->pairs[i].side[side], metric)->value != first->value)
			return NAN;
	return first->value;
}

/*
 * False: it is a matter of statistics. Values that are equal on both sides decide with the first pair. A difference has
 * to be there in several: a number that is now one and now another may look constant in a few processes.
 */
static bool judge_counted(const struct assay_comparison_case *c, const struct assay_paired_rule *rule,
			  struct assay_gate_case *out, bool *final)
{
	const double base = c->n_pairs ? counted_value(c, ASSAY_BASE, rule->metric) : NAN;
	const double head = c->n_pairs ? counted_value(c, ASSAY_HEAD, rule->metric) : NAN;
	const struct assay_metric *m;
	char was[48], is[48];
	double worse_by;

	if (!isfinite(base) || !isfinite(head))
		return false;
	m = assay_result_metric(&c->pairs[0].side[ASSAY_HEAD], rule->metric);
	out->evidence = ASSAY_EVIDENCE_EXACT;
	out->pairs = c->n_pairs;
	snprintf(was, sizeof(was), "%.15g%s%s", base, strcmp(m->unit, "1") ? " " : "",
		 strcmp(m->unit, "1") ? m->unit : "");
	snprintf(is, sizeof(is), "%.15g", head);
	if (base == head) {
		out->ratio = out->ci_lo = out->ci_hi = 1;
		decide(out, ASSAY_PASS, "the same on both sides in every run: %s", was);
		return true;
	}
	*final = c->n_pairs >= COUNTED_PAIRS;
	if (base > 0 && head > 0)
		out->ratio = out->ci_lo = out->ci_hi = m->better > 0 ? base / head : head / base;
	worse_by = isfinite(out->ratio) ? out->ratio - 1 : m->better * (base - head);
	if (!*final)
		decide(out, ASSAY_INCONCLUSIVE, "%s in every run of the head and %s in the base, in too few runs", is,
		       was);
	else
		decide(out,
		       worse_by > rule->margin_frac    ? ASSAY_REGRESSED
		       : worse_by < -rule->margin_frac ? ASSAY_IMPROVED
						       : ASSAY_PASS,
		       "%s in every run, the base has %s", is, was);
	return true;
}

int assay_paired_judge(const struct assay_comparison_case *c, const struct assay_paired_rule *rule,
		       struct assay_gate_case *out, bool *final, struct assay_err *err)
{
	struct pile pile;
	bool passes = false;
	int rc;

	*out = (struct assay_gate_case){ .metric = "time_s",
					 .evidence = ASSAY_EVIDENCE_PAIRED,
					 .verdict = ASSAY_INCONCLUSIVE,
					 .margin_frac = rule->margin_frac };
	memcpy(out->key, c->c.key, sizeof(out->key));
	if (rule->metric[0])
		memcpy(out->metric, rule->metric, sizeof(out->metric));
	out->ratio = out->ci_lo = out->ci_hi = out->dropped_frac = out->smallest_detectable_frac = NAN;
	out->value = out->limit = NAN;
	*final = true;
	if (judge_presence(c, out))
		return 0;
	for (size_t i = 0; i < c->n_pairs; i++)
		if (judge_side(&c->pairs[i].side[ASSAY_HEAD], ASSAY_HEAD, out) ||
		    judge_side(&c->pairs[i].side[ASSAY_BASE], ASSAY_BASE, out))
			return 0;
	if (!is_time(rule->metric) &&
	    (judge_metric_presence(c, rule->metric, out) || judge_counted(c, rule, out, final)))
		return 0;
	rc = pile_open(&pile, c, err);
	if (rc)
		return rc;
	*final = c->n_pairs >= rule->max_pairs;
	for (size_t i = 0; i < c->n_pairs && i < rule->max_pairs && out->verdict == ASSAY_INCONCLUSIVE; i++) {
		bool last = i + 1 == rule->max_pairs;

		pile_add(&pile, &c->pairs[i], rule->metric);
		if (assay_paired_same_code(c))
			continue;
		out->verdict = too_disturbed(&pile, rule) ? look_at_ranges(&pile, last, rule)
							  : look(&pile, last, rule, &passes);
	}
	*final |= out->verdict != ASSAY_INCONCLUSIVE;
	if (out->verdict == ASSAY_INCONCLUSIVE && passes && !too_disturbed(&pile, rule))
		out->verdict = ASSAY_PASS;
	if (assay_paired_same_code(c)) {
		out->verdict = pile.n || !pile.n_blocks ? ASSAY_PASS : ASSAY_INCONCLUSIVE;
		*final |= c->n_pairs >= (out->verdict == ASSAY_PASS ? rule->same_code_pairs : SAME_CODE_TRIES);
	}
	fill_numbers(&pile, rule, out);
	explain(c, &pile, rule, out);
	/* what is likely of a range is not enough for suspicion */
	if (!too_disturbed(&pile, rule))
		assay_paired_suspect(out);
	free(pile.x);
	return 0;
}

int assay_paired_readings(const struct assay_comparison_case *c, const char *metric, struct assay_paired_readings *out,
			  struct assay_err *err)
{
	struct pile pile;
	int rc = pile_open(&pile, c, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < c->n_pairs; i++)
		pile_add(&pile, &c->pairs[i], metric);
	*out = (struct assay_paired_readings){
		.mean = assay_stats_mean(pile.x, pile.n),
		.sd = assay_stats_sd(pile.x, pile.n),
		.n = pile.n,
	};
	free(pile.x);
	return 0;
}

int assay_paired_own_noise(const struct assay_comparison_case *c, double *se, struct assay_err *err)
{
	struct pile pile;
	double squares = 0;
	size_t n = 0;
	int rc = pile_open(&pile, c, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < c->n_pairs; i++) {
		double one = assay_pair_own_error(&c->pairs[i], pile.tmp);

		squares += one * one;
		n += one > 0;
	}
	*se = n ? sqrt(squares / (double)n) : 0;
	free(pile.x);
	return 0;
}

/* ---- rule of a comparison ---- */

#define SAME_CODE_PAIRS 5 /* to show what the noise is, where that is asked for */

struct assay_paired_rule assay_comparison_rule(const struct assay_comparison *cmp,
					       const struct assay_comparison_case *c, const struct assay_policy *policy)
{
	unsigned family = c->control == ASSAY_CONTROL_NONE ? cmp->family : 1;
	struct assay_paired_rule rule =
		assay_paired_rule_of(cmp->alpha, policy->pass_alpha, family, assay_policy_paired_margin(policy, &c->c),
				     policy->max_dropped_frac, cmp->max_pairs);

	rule.same_code_pairs = cmp->same_code ? SAME_CODE_PAIRS : 1;
	if (c->control != ASSAY_CONTROL_NONE && !cmp->trial)
		rule.budgets = ASSAY_PAIRED_CONTROL_BUDGETS;
	return rule;
}

void assay_comparison_rule_note(const struct assay_comparison *cmp, const char *verdict, char *buf, size_t size)
{
	char by[48] = "a rule without a version";

	buf[0] = '\0';
	if (cmp->rule == ASSAY_JUDGE_RULE)
		return;
	if (cmp->rule)
		snprintf(by, sizeof(by), "rule %u", cmp->rule);
	snprintf(buf, size,
		 "comparison %" PRId64 " was measured and judged by %s (%s), this is rule %d: the verdict may differ",
		 cmp->id, by, verdict[0] ? verdict : "it did not finish", ASSAY_JUDGE_RULE);
}
