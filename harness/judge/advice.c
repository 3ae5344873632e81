/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/advice.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/exact.h"
#include "model/quantity.h"

/* Thresholds; each stands in reports/ADVICE.md. */
#define NEAR_ROOF       0.8  /* of the roof: only less work or more threads help */
#define HALF_ROOF       0.5  /* from here on the roof is what bounds */
#define SCALAR_FACTOR   1.25 /* times the slowest peak: no faster than scalar code */
#define WIDER_FROM      0.5  /* of a narrower peak */
#define WIDER_TO        1.1
#define WORTH           1.1 /* a smaller gain is no advice */
#define THREADS_WORTH   1.25
#define LEVEL_NEAR      1.2 /* times the bandwidth of the next level */
#define IMBALANCE_BELOW 0.8
#define OVERHEAD_FROM   0.1
#define OVERHEAD_BOUND  0.5
#define LATENCY_BELOW   1.0 /* instructions in a ns and thread */
#define STALLED_FROM    0.5
#define PART_FROM       0.5
#define HALF_LOST       0.5  /* of the time of the threads */
#define ALLOCATION_NS   10.0 /* at the least, of a block that is taken and given back */
#define GAIN_FIRST      2.0
#define GAIN_SECOND     1.25
#define FAULT_EVERY_NS  1e4 /* rarer ones cost under a percent or so */
#define WAIT_EVERY_NS   1e5

static double roof_allows(const struct assay_case_evidence *e)
{
	return e->roof_frac > 0 ? fmax(1, 1 / e->roof_frac) : NAN;
}

static double best_peak(const struct assay_case_evidence *e)
{
	return e->n_peaks ? e->peaks[e->n_peaks - 1].ops_per_s : NAN;
}

/* The expected gain with arithmetic of @ops_per_s: what other shapes reach of the model, and no more than the roof. */
static double model_gain(const struct assay_case_evidence *e, double ops_per_s)
{
	if (!assay_case_evidence_has_model(e) || !(e->reach > 0))
		return NAN;
	return fmin(e->ns * e->reach / assay_case_evidence_model_ns(e, ops_per_s), roof_allows(e));
}

static void say(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void say(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, size, fmt, ap);
	va_end(ap);
}

#define EVIDENCE(a, ...) say((a)->evidence, sizeof((a)->evidence), __VA_ARGS__)

struct words {
	char text[32];
};

static struct words rate_words(double value, const char *unit)
{
	struct words w;

	assay_quantity_text(value, unit, true, w.text, sizeof(w.text));
	return w;
}

static struct words count_words(double n)
{
	struct words w;

	assay_exact_about_text(n, w.text, sizeof(w.text));
	return w;
}

/* The gain of the best instructions, and of narrower ones. */
static void add_steps(const struct assay_case_evidence *e, struct assay_advice *a)
{
	for (size_t i = 0; i < e->n_peaks && a->n_steps < ASSAY_ADVICE_STEPS_MAX; i++) {
		double gain = model_gain(e, e->peaks[i].ops_per_s);

		if (!(gain >= WORTH))
			continue;
		say(a->steps[a->n_steps].variant, sizeof(a->steps[0].variant), "%s", e->peaks[i].variant);
		a->steps[a->n_steps++].gain = gain;
	}
}

/* ---- rules: true where the condition holds, and then evidence and gain are filled ---- */

/* A rule that follows from a limit of the machine speaks only of cases with one of its bounds. */
#define ON(b)      (1u << ASSAY_BOUND_BY_##b)
#define ANY_BOUND  (~0u)
#define BY_WORK    (ON(MEMORY) | ON(COMPUTE) | ON(LATENCY))
#define BY_DATA    (ON(MEMORY) | ON(LATENCY))
#define BY_NUMBERS (ON(COMPUTE) | ON(LATENCY))

static bool far_from_roof(const struct assay_case_evidence *e)
{
	return e->bound != ASSAY_BOUND_NONE && e->roof_frac < NEAR_ROOF && !e->part;
}

static bool is_scalar(const struct assay_case_evidence *e)
{
	return e->n_peaks > 1 && e->ops_per_s <= SCALAR_FACTOR * e->peaks[0].ops_per_s &&
	       best_peak(e) >= 2 * e->peaks[0].ops_per_s;
}

/* The peak of narrower instructions that holds it; NULL: none does. */
static const struct assay_evidence_peak *narrower_peak(const struct assay_case_evidence *e)
{
	for (size_t i = 1; i + 1 < e->n_peaks; i++) {
		double rate = e->peaks[i].ops_per_s;

		if (e->ops_per_s >= WIDER_FROM * rate && e->ops_per_s <= WIDER_TO * rate &&
		    best_peak(e) >= THREADS_WORTH * rate)
			return &e->peaks[i];
	}
	return NULL;
}

static bool rule_vector(const struct assay_case_evidence *e, struct assay_advice *a)
{
	if (!far_from_roof(e) || !is_scalar(e))
		return false;
	EVIDENCE(a, "%s, no more than the %s of %s/%s; %s reaches %s", rate_words(e->ops_per_s, "op/s").text,
		 rate_words(e->peaks[0].ops_per_s, "op/s").text, e->peak_op, e->peaks[0].variant,
		 e->peaks[e->n_peaks - 1].variant, rate_words(best_peak(e), "op/s").text);
	a->gain = model_gain(e, best_peak(e));
	add_steps(e, a);
	return true;
}

static bool rule_wider(const struct assay_case_evidence *e, struct assay_advice *a)
{
	const struct assay_evidence_peak *p = narrower_peak(e);

	if (!far_from_roof(e) || is_scalar(e) || !p)
		return false;
	EVIDENCE(a, "%.0f %% of the peak of %s instructions (%s); those of %s reach %s",
		 100 * e->ops_per_s / p->ops_per_s, p->variant, rate_words(p->ops_per_s, "op/s").text,
		 e->peaks[e->n_peaks - 1].variant, rate_words(best_peak(e), "op/s").text);
	a->gain = model_gain(e, best_peak(e));
	add_steps(e, a);
	return true;
}

static bool rule_compute(const struct assay_case_evidence *e, struct assay_advice *a)
{
	if (!far_from_roof(e) || e->bound != ASSAY_BOUND_ARITHMETIC || is_scalar(e) || narrower_peak(e))
		return false;
	EVIDENCE(a, "%.1f %% of %s, the peak of this arithmetic", 100 * e->roof_frac, e->roof_op);
	a->gain = model_gain(e, best_peak(e));
	return true;
}

/* The roof is a bandwidth, but instructions keep the case from reaching it. */
static bool rule_instructions(const struct assay_case_evidence *e, struct assay_advice *a)
{
	if (!far_from_roof(e) || e->bound != ASSAY_BOUND_BANDWIDTH || !(e->roof_frac < HALF_ROOF) || is_scalar(e) ||
	    narrower_peak(e) || !(e->instructions > 0) || !(e->bytes_per_s > 0))
		return false;
	EVIDENCE(a, "%.2f instructions a byte (%s), at %.1f %% of %s at %s",
		 e->instructions / (e->bytes_per_s * e->ns * 1e-9), e->instructions_source, 100 * e->roof_frac,
		 e->roof_op, e->roof_name);
	return true;
}

static bool rule_stream(const struct assay_case_evidence *e, struct assay_advice *a)
{
	if (!far_from_roof(e) || e->bound != ASSAY_BOUND_BANDWIDTH || is_scalar(e) || !assay_case_evidence_has_model(e))
		return false;
	EVIDENCE(a, "%s, %.1f %% of %s at %s", rate_words(e->bytes_per_s, "B/s").text, 100 * e->roof_frac, e->roof_op,
		 e->roof_name);
	a->gain = model_gain(e, best_peak(e));
	return true;
}

/* Whether the case waits or calculates is not known, so nothing else can be advised. A reference is not worth it. */
static bool rule_count(const struct assay_case_evidence *e, struct assay_advice *a)
{
	if (!far_from_roof(e) || e->instructions > 0 || e->reference)
		return false;
	EVIDENCE(a, "%.1f %% of %s, and its instructions were not counted", 100 * e->roof_frac, e->roof_op);
	a->most = NAN;
	return true;
}

static bool rule_level(const struct assay_case_evidence *e, struct assay_advice *a)
{
	double own, next;

	if (!far_from_roof(e) || e->bound != ASSAY_BOUND_BANDWIDTH || e->level >= ASSAY_LEVEL_DRAM)
		return false;
	own = e->bandwidth[e->level];
	next = e->bandwidth[e->level + 1];
	if (!(own > 2 * next) || !(e->bytes_per_s <= LEVEL_NEAR * next && e->bytes_per_s * LEVEL_NEAR >= next))
		return false;
	EVIDENCE(a, "the data fits %s (%s), but arrives at %s as from %s (%s)", assay_evidence_level_name(e->level),
		 rate_words(own, "B/s").text, rate_words(e->bytes_per_s, "B/s").text,
		 assay_evidence_level_name(e->level + 1), rate_words(next, "B/s").text);
	return true;
}

static bool rule_threads(const struct assay_case_evidence *e, struct assay_advice *a)
{
	if (!(e->roof_frac >= NEAR_ROOF) || assay_limit_exceeded(e->roof_frac) || !(e->threads < e->all_threads) ||
	    !(e->more_threads >= THREADS_WORTH))
		return false;
	EVIDENCE(a, "%.0f %% of what %u thread%s get%s; %u get %.2f times as much", 100 * e->roof_frac, e->threads,
		 e->threads == 1 ? "" : "s", e->threads == 1 ? "s" : "", e->all_threads, e->more_threads);
	a->most = e->more_threads * roof_allows(e);
	a->gain = fmin(e->more_threads * (e->run_efficiency > 0 ? e->run_efficiency : 1), a->most);
	return true;
}

static bool rule_imbalance(const struct assay_case_evidence *e, struct assay_advice *a)
{
	if (e->threads < 2 || !(e->efficiency < IMBALANCE_BELOW))
		return false;
	EVIDENCE(a, "%u threads are %.0f %% efficient, against one thread in this run", e->threads,
		 100 * e->efficiency);
	a->gain = fmin(1 / e->efficiency, isnan(a->most) ? INFINITY : a->most);
	return true;
}

static bool rule_overhead(const struct assay_case_evidence *e, struct assay_advice *a)
{
	double share = e->region_ns / e->ns;

	if (!(share >= OVERHEAD_FROM))
		return false;
	EVIDENCE(a, "to hand %u thread%s their work takes %.0f ns, %.0f %% of the call", e->threads,
		 e->threads == 1 ? "" : "s", e->region_ns, 100 * fmin(share, 1));
	if (share < 1)
		a->gain = fmin(1 / (1 - share), isnan(a->most) ? INFINITY : a->most);
	return true;
}

static bool counted(double n, const char *what, struct assay_advice *a)
{
	if (!(n > 0))
		return false;
	EVIDENCE(a, "%s %s a call", count_words(n).text, what);
	return true;
}

/* The share of the call that allocation surely takes; 0: none is known. */
static double allocation_share(const struct assay_case_evidence *e)
{
	if (e->allocation_frac >= 0)
		return e->allocation_frac;
	return e->allocations > 0 ? e->allocations * ALLOCATION_NS / e->ns : 0;
}

/* Without a profile only their number is known, and no gain is told. */
static bool rule_allocations(const struct assay_case_evidence *e, struct assay_advice *a)
{
	if (e->allocation_frac >= OVERHEAD_FROM) {
		EVIDENCE(a, "%.0f %% of the samples lie in malloc() and its like", 100 * e->allocation_frac);
		if (e->allocation_frac < 1)
			a->gain = fmin(1 / (1 - e->allocation_frac), isnan(a->most) ? INFINITY : a->most);
		return true;
	}
	return counted(e->allocations, "allocations", a);
}

static bool rule_faults(const struct assay_case_evidence *e, struct assay_advice *a)
{
	return e->faults >= e->ns / FAULT_EVERY_NS && counted(e->faults, "page faults", a);
}

static bool rule_waits(const struct assay_case_evidence *e, struct assay_advice *a)
{
	return e->waits >= e->ns / WAIT_EVERY_NS && counted(e->waits, "waits in the kernel", a);
}

static bool rule_fallbacks(const struct assay_case_evidence *e, struct assay_advice *a)
{
	return counted(e->fallbacks, "fallbacks to a slower path", a);
}

/* Counts are exact, so that this holds on every machine; only what a larger cache gains is a matter of time. */
static bool rule_word_cache(const struct assay_case_evidence *e, struct assay_advice *a)
{
	if (e->words.slots == e->words_enough.slots)
		return false;
	EVIDENCE(a,
		 "a cache of %.0f words misses %.1f %%, one of %.0f misses %.1f %% and is the smallest that is enough",
		 e->words.slots, 100 * e->words.misses_frac, e->words_enough.slots, 100 * e->words_enough.misses_frac);
	if (e->words.slots < e->words_enough.slots)
		a->gain = fmin(e->words.ns / e->words_enough.ns, isnan(a->most) ? INFINITY : a->most);
	return true;
}

static bool rule_latency(const struct assay_case_evidence *e, struct assay_advice *a)
{
	double rate = e->instructions / e->ns / e->threads;

	if (!(e->roof_frac < HALF_ROOF) || !(rate < LATENCY_BELOW))
		return false;
	EVIDENCE(a, "%.2f instructions in a ns and thread (%s)", rate, e->instructions_source);
	return true;
}

static bool rule_part(const struct assay_case_evidence *e, struct assay_advice *a)
{
	if (!e->part || !(e->part_frac >= PART_FROM))
		return false;
	EVIDENCE(a, "%s is %.0f %%: without it the call would be %.1f times as fast", e->part, 100 * e->part_frac,
		 1 / (1 - e->part_frac));
	a->most = fmin(1 / (1 - e->part_frac), isnan(a->most) ? INFINITY : a->most);
	return true;
}

/* In the order in which those of one priority are told. */
static const struct {
	const char *name;
	bool (*holds)(const struct assay_case_evidence *e, struct assay_advice *a);
	const char *text;
	unsigned bounds; /* of these cases */
} rules[] = {
	{ "fallbacks", rule_fallbacks, "give the shape a fast path, or pad it to one that has it", ANY_BOUND },
	{ "word_cache", rule_word_cache, "give the word cache that size", ANY_BOUND },
	{ "allocations", rule_allocations, "allocate in prepare() and keep the memory", ANY_BOUND },
	{ "faults", rule_faults, "touch the memory in prepare(), and keep it", ANY_BOUND },
	{ "waits", rule_waits, "let threads spin for short waits, and take system calls out of the call", ANY_BOUND },
	{ "overhead", rule_overhead, "do more in a call, or use fewer threads for so little work", ANY_BOUND },
	{ "imbalance", rule_imbalance, "cut the work into equal shares, and let threads share no cache line they write",
	  ANY_BOUND },
	{ "part", rule_part, "begin with the longest part; the others bound what it can bring", ANY_BOUND },
	{ "vector", rule_vector, "use vector instructions", BY_WORK },
	{ "wider", rule_wider, "use the wider instructions that this machine has", BY_NUMBERS },
	{ "compute", rule_compute, "keep more independent sums in registers, and block so that loads are reused",
	  BY_NUMBERS },
	{ "instructions", rule_instructions,
	  "execute fewer instructions for each byte: wider loads, fewer conversions, no branches", ON(COMPUTE) },
	{ "stream", rule_stream,
	  "keep more bytes in flight: vector loads, several streams, prefetches; touch each byte once", BY_DATA },
	{ "count", rule_count, "find out whether it waits or calculates: count its instructions with --evidence exact",
	  ON(UNKNOWN) },
	{ "level", rule_level, "block the loops so that data is reused while it is near, and let threads not share it",
	  BY_DATA },
	{ "latency", rule_latency, "break chains of dependent instructions: several sums, loads ahead of their use",
	  BY_DATA },
	{ "threads", rule_threads, "use more threads", ANY_BOUND },
};

/* ---- the bound ---- */

static void by_roof(const struct assay_case_evidence *e, struct assay_bottleneck *out)
{
	bool memory = e->bound == ASSAY_BOUND_BANDWIDTH, wrong = assay_limit_exceeded(e->roof_frac);

	out->bound = memory ? ASSAY_BOUND_BY_MEMORY : ASSAY_BOUND_BY_COMPUTE;
	EVIDENCE(out, "%.1f %% of %s%s%s in this run%s%s", 100 * e->roof_frac, e->roof_op, memory ? " at " : "",
		 memory ? e->roof_name : "", wrong ? "; " : "", wrong ? ASSAY_LIMIT_EXCEEDED_TEXT : "");
}

static void by_instructions(const struct assay_case_evidence *e, struct assay_bottleneck *out)
{
	double a_ns = e->instructions / e->ns / e->threads;
	bool waits = a_ns < LATENCY_BELOW || e->stall_frac >= STALLED_FROM;

	out->bound = waits ? ASSAY_BOUND_BY_LATENCY : ASSAY_BOUND_BY_COMPUTE;
	EVIDENCE(out, "%s instructions a call (%s), %.2f in a ns and thread, at %.1f %% of its limit",
		 count_words(e->instructions).text, e->instructions_source, a_ns, 100 * e->roof_frac);
}

static void find_bound(const struct assay_case_evidence *e, struct assay_bottleneck *out)
{
	const struct assay_evidence_peak *p = narrower_peak(e);

	if (!p && e->n_peaks > 1 && is_scalar(e) && e->ops_per_s >= WIDER_FROM * e->peaks[0].ops_per_s)
		p = &e->peaks[0];
	if (e->region_ns / e->ns >= OVERHEAD_BOUND) {
		out->bound = ASSAY_BOUND_BY_OVERHEAD;
		EVIDENCE(out, "to hand the threads their work takes %.0f ns of %.0f", e->region_ns, e->ns);
	} else if (allocation_share(e) >= HALF_LOST) {
		out->bound = ASSAY_BOUND_BY_ALLOCATION;
		if (e->allocation_frac >= 0)
			EVIDENCE(out, "%.0f %% of the samples of a profile lie in malloc() and its like",
				 100 * e->allocation_frac);
		else
			EVIDENCE(out, "%s allocations a call, which at %.0f ns each are %.0f %% of it",
				 count_words(e->allocations).text, ALLOCATION_NS, 100 * fmin(1, allocation_share(e)));
	} else if (e->roof_frac >= HALF_ROOF) {
		by_roof(e, out);
	} else if (e->threads > 1 && e->efficiency < HALF_LOST) {
		out->bound = ASSAY_BOUND_BY_IMBALANCE;
		EVIDENCE(out,
			 "%u threads are %.0f %% efficient, against one thread in this run, at %.1f %% of its limit",
			 e->threads, 100 * e->efficiency, 100 * e->roof_frac);
	} else if (e->instructions > 0) {
		by_instructions(e, out);
	} else if (p) {
		out->bound = ASSAY_BOUND_BY_COMPUTE;
		EVIDENCE(out, "%.0f %% of the peak of %s instructions, at %.1f %% of its limit",
			 100 * e->ops_per_s / p->ops_per_s, p->variant, 100 * e->roof_frac);
	} else if (e->bound != ASSAY_BOUND_NONE) {
		EVIDENCE(out, "compute or latency: only %.1f %% of %s, and its instructions were not counted",
			 100 * e->roof_frac, out->roof);
	} else {
		EVIDENCE(out, "the run did not measure a limit for it");
	}
}

void assay_bottleneck_find(const struct assay_case_evidence *e, struct assay_bottleneck *out)
{
	size_t n = 0;

	*out = (struct assay_bottleneck){ .roof_frac = e->roof_frac };
	say(out->key, sizeof(out->key), "%s", e->key);
	if (e->bound != ASSAY_BOUND_NONE)
		say(out->roof, sizeof(out->roof), "%s%s%s", e->roof_op, e->bound == ASSAY_BOUND_BANDWIDTH ? " at " : "",
		    e->bound == ASSAY_BOUND_BANDWIDTH ? e->roof_name : "");
	find_bound(e, out);
	if (e->bound == ASSAY_BOUND_NONE)
		n += (size_t)snprintf(out->missing + n, sizeof(out->missing) - n,
				      "a roof (stream.* and peak.* in the same suite, on %u thread%s)", e->threads,
				      e->threads == 1 ? "" : "s");
	if (!(e->instructions > 0) && !(e->roof_frac >= HALF_ROOF))
		n += (size_t)snprintf(out->missing + n, sizeof(out->missing) - n,
				      "%sinstructions (--evidence exact, or --counters flops)", n ? "; " : "");
	if (isnan(e->region_ns) && e->ns < 1e5 && n < sizeof(out->missing))
		n += (size_t)snprintf(out->missing + n, sizeof(out->missing) - n,
				      "%soverhead of a call (overhead.dispatch on %u thread%s)", n ? "; " : "",
				      e->threads, e->threads == 1 ? "" : "s");
	if (isnan(e->allocations) && isnan(e->allocation_frac) && n < sizeof(out->missing))
		snprintf(out->missing + n, sizeof(out->missing) - n, "%sallocations (--counters heap)", n ? "; " : "");
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && out->n_advice < ASSAY_ADVICE_MAX; i++) {
		struct assay_advice *a = &out->advice[out->n_advice];

		*a = (struct assay_advice){
			.rule = rules[i].name, .text = rules[i].text, .gain = NAN, .most = roof_allows(e)
		};
		if (!(rules[i].bounds & 1u << out->bound) || !rules[i].holds(e, a) || a->gain < WORTH)
			continue;
		if (e->reference) /* it is written to be read, and what a fast one reaches says nothing of it */
			a->gain = a->most = NAN, a->n_steps = 0;
		a->priority = a->gain >= GAIN_FIRST ? 1 : isnan(a->gain) || a->gain >= GAIN_SECOND ? 2 : 3;
		out->n_advice++;
	}
	/* Those of one priority stay in the order of the rules. */
	for (size_t i = 1; i < out->n_advice; i++)
		for (size_t k = i; k && out->advice[k].priority < out->advice[k - 1].priority; k--) {
			const struct assay_advice later = out->advice[k - 1];

			out->advice[k - 1] = out->advice[k];
			out->advice[k] = later;
		}
}
