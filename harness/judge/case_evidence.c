/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/advice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/exact.h"
#include "stats/stats.h"

/* Of data little larger than a core's own caches much stays in them, see measure/roof.c. */
#define OWN_CACHES 1.25
/* Of the last-level cache, which others use too: data that takes more of it need not stay. */
#define SURE_SHARE      0.5
#define REACH_MAX       256
#define REACH_SAME_ROOF 2 /* shapes under the same roof that tell what is reached there */
#define REACH_LEAST     3 /* shapes with the same kind of roof, else */

static const char *const level_names[ASSAY_N_LEVELS] = { "l1", "l2", "l3", "dram" };

const char *assay_evidence_level_name(enum assay_evidence_level l)
{
	return level_names[l];
}

static double metric(const struct assay_result *r, const char *tag)
{
	const struct assay_metric *m = assay_result_metric(r, tag);

	return m ? m->value : NAN;
}

static double count(const struct assay_result *r, const char *name)
{
	const struct assay_count *c = assay_counters_find(&r->counters, name);

	return c ? c->value : NAN;
}

static bool is_timed(const struct assay_result *r)
{
	return assay_result_is_right(r) && r->n_samples && r->median_ns > 0;
}

/* "48 KiB", "1 x 480 MiB" of the machine's facts, in bytes; NaN: it does not say. */
static double cache_bytes(const struct assay_run *run, const char *name)
{
	static const char units[] = "BKMGT";

	for (size_t i = 0; i < run->machine.n_facts; i++) {
		const struct assay_fact *f = &run->machine.facts[i];
		const char *x = strstr(f->value, "x "), *unit;
		char *end;
		double v;

		if (strcmp(f->name, name))
			continue;
		v = strtod(x ? x + 2 : f->value, &end);
		unit = *end == ' ' && end[1] ? strchr(units, end[1]) : NULL;
		return v > 0 && unit ? ldexp(v, 10 * (int)(unit - units)) : NAN;
	}
	return NAN;
}

static enum assay_evidence_level level_of(const struct assay_run *run, const struct assay_result *r)
{
	double bytes = metric(r, "op_bytes"), own = OWN_CACHES * r->c.threads;
	double l1 = cache_bytes(run, "l1d"), l2 = cache_bytes(run, "l2"), llc = cache_bytes(run, "llc");

	/* of a device the host's caches say nothing */
	if (r->c.device[0] || r->c.cache == ASSAY_CACHE_COLD || bytes > llc)
		return ASSAY_LEVEL_DRAM;
	if (!(bytes > 0 && l1 > 0 && l2 > 0))
		return ASSAY_N_LEVELS;
	if (bytes > own * l2)
		return ASSAY_LEVEL_L3;
	return bytes > own * l1 ? ASSAY_LEVEL_L2 : ASSAY_LEVEL_L1;
}

/* Where data at @level surely comes from. */
static enum assay_evidence_level supply_of(const struct assay_run *run, const struct assay_result *r,
					   enum assay_evidence_level level)
{
	bool crowded = metric(r, "op_bytes") > SURE_SHARE * cache_bytes(run, "llc");

	return level == ASSAY_LEVEL_L3 && crowded ? ASSAY_LEVEL_DRAM : level;
}

static bool is_stream(const struct assay_result *r)
{
	return !strncmp(r->c.op, "stream.", 7) && r->c.n_axes;
}

static bool on_same(const struct assay_result *r, const struct assay_case *c, unsigned threads)
{
	return r->c.threads == threads && !strcmp(r->c.device, c->device);
}

/* On the device of @c, or the host, and as many threads. */
static double bandwidth_of(const struct assay_run *run, const struct assay_case *c, unsigned threads, const char *level)
{
	double best = NAN;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		if (is_timed(r) && is_stream(r) && on_same(r, c, threads) && !strcmp(r->c.axes[0].text, level))
			best = fmax(best, metric(r, "bytes_per_s"));
	}
	return best;
}

static double peak_of(const struct assay_run *run, const struct assay_case *c, unsigned threads, const char *op)
{
	double best = NAN;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		if (is_timed(r) && on_same(r, c, threads) && !strcmp(r->c.op, op))
			best = fmax(best, metric(r, "ops_per_s"));
	}
	return best;
}

/* The op of the peak that bounds any case of the op; NULL: no case is bound by arithmetic. */
static const char *peak_op_of(const struct assay_run *run, const char *op)
{
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		if (!strcmp(r->c.op, op) && r->roof.bound == ASSAY_BOUND_ARITHMETIC)
			return r->roof.op;
	}
	return NULL;
}

static int slower_first(const void *a, const void *b)
{
	const struct assay_evidence_peak *x = a, *y = b;

	return x->ops_per_s < y->ops_per_s ? -1 : x->ops_per_s > y->ops_per_s;
}

static void read_peaks(const struct assay_run *run, const struct assay_result *c, struct assay_case_evidence *out)
{
	out->peak_op = peak_op_of(run, c->c.op);
	for (size_t i = 0; i < run->n_results && out->peak_op && out->n_peaks < ASSAY_EVIDENCE_PEAKS_MAX; i++) {
		const struct assay_result *r = &run->results[i];

		if (is_timed(r) && on_same(r, &c->c, c->c.threads) && !strcmp(r->c.op, out->peak_op))
			out->peaks[out->n_peaks++] =
				(struct assay_evidence_peak){ r->c.variant, metric(r, "ops_per_s") };
	}
	qsort(out->peaks, out->n_peaks, sizeof(out->peaks[0]), slower_first);
}

/* Instructions of a call, of the highest rung that has them. */
static void read_instructions(const struct assay_run *run, const struct assay_result *r,
			      struct assay_case_evidence *out)
{
	const struct assay_exact_case *c = run->exact ? assay_exact_case_find(run->exact, r->c.key) : NULL;

	out->instructions = count(r, "PAPI_TOT_INS");
	out->instructions_source = ASSAY_SOURCE_PMU;
	if (c && c->status == ASSAY_STATUS_OK) {
		out->instructions = (double)c->total.v[ASSAY_EXACT_INSTRUCTIONS];
		out->instructions_source = ASSAY_SOURCE_EXACT;
	}
}

/* The op's shares of the time: "time_ffn_frac". */
static void read_parts(const struct assay_result *r, struct assay_case_evidence *out)
{
	out->part_frac = NAN;
	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct assay_metric *m = &r->metrics[i];
		const char *end = strstr(m->tag, "_frac");

		if (strncmp(m->tag, "time_", 5) || !end || end[5] || (out->part && m->value <= out->part_frac))
			continue;
		out->part = m->tag;
		out->part_frac = m->value;
	}
}

/* ---- word caches ---- */

#define WORD_CACHE_AXIS "slots"

static struct assay_evidence_words words_of(const struct assay_result *r)
{
	const double hits = count(r, "word_cache_hits"), misses = count(r, "word_cache_misses");
	struct assay_evidence_words w = { 0 };

	for (unsigned i = 0; i < r->c.n_axes && hits + misses > 0; i++)
		if (!strcmp(r->c.axes[i].name, WORD_CACHE_AXIS))
			w = (struct assay_evidence_words){ (double)r->c.axes[i].value, misses / (hits + misses),
							   r->median_ns };
	return w;
}

static bool same_but_slots(const struct assay_case *a, const struct assay_case *b)
{
	bool same = !strcmp(a->op, b->op) && !strcmp(a->variant, b->variant) && !strcmp(a->device, b->device) &&
		    a->threads == b->threads && a->cache == b->cache && a->n_axes == b->n_axes;

	for (unsigned i = 0; i < a->n_axes && same; i++)
		same = !strcmp(a->axes[i].name, WORD_CACHE_AXIS) || !strcmp(a->axes[i].text, b->axes[i].text);
	return same;
}

static void read_words(const struct assay_run *run, const struct assay_result *r, struct assay_case_evidence *out)
{
	struct assay_evidence_words largest, w;

	out->words = out->words_enough = largest = words_of(r);
	for (size_t i = 0; i < run->n_results && out->words.slots > 0; i++) {
		w = words_of(&run->results[i]);
		if (w.slots > largest.slots && is_timed(&run->results[i]) && same_but_slots(&run->results[i].c, &r->c))
			largest = w;
	}
	if (out->words.misses_frac > largest.misses_frac + ASSAY_WORDS_HARDLY_MORE)
		out->words_enough = largest;
	for (size_t i = 0; i < run->n_results && out->words.slots > 0; i++) {
		w = words_of(&run->results[i]);
		if (w.slots > 0 && w.slots < out->words_enough.slots && is_timed(&run->results[i]) &&
		    same_but_slots(&run->results[i].c, &r->c) &&
		    w.misses_frac <= largest.misses_frac + ASSAY_WORDS_HARDLY_MORE)
			out->words_enough = w;
	}
}

static double region_ns_of(const struct assay_run *run, unsigned threads)
{
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		if (is_timed(r) && r->c.threads == threads && !strcmp(r->c.op, "overhead.dispatch"))
			return 1e9 / metric(r, "items_per_s");
	}
	return NAN;
}

static double more_threads_of(const struct assay_run *run, const struct assay_result *r)
{
	if (r->roof.bound == ASSAY_BOUND_ARITHMETIC)
		return peak_of(run, &r->c, run->all_threads, r->roof.op) /
		       peak_of(run, &r->c, r->c.threads, r->roof.op);
	if (r->roof.bound == ASSAY_BOUND_BANDWIDTH)
		return bandwidth_of(run, &r->c, run->all_threads, r->roof.name) /
		       bandwidth_of(run, &r->c, r->c.threads, r->roof.name);
	return NAN;
}

static double run_efficiency_of(const struct assay_run *run)
{
	double v[REACH_MAX];
	size_t n = 0;

	for (size_t i = 0; i < run->n_results && n < REACH_MAX; i++)
		if (is_timed(&run->results[i]) && isfinite(metric(&run->results[i], "parallel_efficiency")))
			v[n++] = metric(&run->results[i], "parallel_efficiency");
	assay_stats_sort(v, n);
	return n ? fmin(1, assay_stats_median(v, n)) : NAN;
}

bool assay_case_evidence_has_model(const struct assay_case_evidence *e)
{
	if (e->bound == ASSAY_BOUND_NONE || e->part)
		return false;
	return e->bound == ASSAY_BOUND_ARITHMETIC ||
	       (strcmp(e->roof_name, level_names[ASSAY_LEVEL_L1]) && strcmp(e->roof_name, level_names[ASSAY_LEVEL_L2]));
}

/* How many times slower than the level where the data lies is what surely delivers it? */
static double slower_supply(const struct assay_case_evidence *e)
{
	double times;

	if (e->supply == e->level)
		return 1;
	times = e->bandwidth[e->level] / e->bandwidth[e->supply];
	return times > 1 ? times : 1;
}

double assay_case_evidence_model_ns(const struct assay_case_evidence *e, double ops_per_s)
{
	double calculating = ops_per_s > 0 ? e->ops_per_s * e->ns / ops_per_s : 0, moving;

	if (e->bound == ASSAY_BOUND_BANDWIDTH)
		moving = e->roof_ns * slower_supply(e);
	else if (e->supply < ASSAY_N_LEVELS && e->bandwidth[e->supply] > 0)
		moving = e->bytes_per_s * e->ns / e->bandwidth[e->supply];
	else
		moving = NAN;
	if (isnan(moving))
		moving = 0;
	return e->level <= ASSAY_LEVEL_L2 ? calculating + moving : fmax(calculating, moving);
}

static bool is_fastest(const struct assay_run *run, const struct assay_result *r)
{
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *o = &run->results[i];

		if (o != r && is_timed(o) && assay_case_same_but_variant(&o->c, &r->c) && o->median_ns < r->median_ns)
			return false;
	}
	return true;
}

/* Shapes that nobody made fast tell nothing of what can be reached; of one variant there is nothing to tell by. */
static bool has_slower(const struct assay_run *run, const struct assay_result *r)
{
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *o = &run->results[i];

		if (o != r && is_timed(o) && assay_case_same_but_variant(&o->c, &r->c))
			return true;
	}
	return false;
}

static bool same_roof(const struct assay_case_evidence *a, const struct assay_case_evidence *b)
{
	return !strcmp(a->roof_op, b->roof_op) && !strcmp(a->roof_name, b->roof_name);
}

/*
 * What the fastest variants of shapes other than that of @c reach on its device, where their roof is of the kind of
 * that of @of, or with @same the same; into @v. How many they are.
 */
static size_t find_reached(const struct assay_run *run, const struct assay_result *c,
			   const struct assay_case_evidence *of, bool same, double v[REACH_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < run->n_results && n < REACH_MAX; i++) {
		const struct assay_result *r = &run->results[i];
		struct assay_case_evidence e;
		double best;

		if (!is_timed(r) || r->disturbed || r->slow_core || strcmp(r->c.device, c->c.device) ||
		    assay_case_same_but_variant(&r->c, &c->c) || !has_slower(run, r) || !is_fastest(run, r))
			continue;
		assay_case_evidence_read(run, i, false, &e);
		if (e.bound != of->bound || (same && !same_roof(&e, of)) || !assay_case_evidence_has_model(&e))
			continue;
		best = e.n_peaks ? e.peaks[e.n_peaks - 1].ops_per_s : NAN;
		v[n++] = fmin(1, assay_case_evidence_model_ns(&e, best) / e.ns);
	}
	return n;
}

static void read_reach(const struct assay_run *run, const struct assay_result *c, struct assay_case_evidence *out)
{
	double v[REACH_MAX];
	size_t least = REACH_SAME_ROOF;

	out->n_reach = find_reached(run, c, out, true, v);
	if (out->n_reach < least) {
		least = REACH_LEAST;
		out->n_reach = find_reached(run, c, out, false, v);
	}
	assay_stats_sort(v, out->n_reach);
	out->reach = out->n_reach >= least ? assay_stats_median(v, out->n_reach) : NAN;
}

void assay_case_evidence_read(const struct assay_run *run, size_t at, bool reach, struct assay_case_evidence *out)
{
	const struct assay_result *r = &run->results[at];

	*out = (struct assay_case_evidence){
		.key = r->c.key,
		.variant = r->c.variant,
		.reference = r->c.reference,
		.threads = r->c.threads,
		.all_threads = run->all_threads,
		.ns = r->median_ns,
		.bound = r->roof.bound,
		.roof_frac = metric(r, "roof_frac"),
		.roof_ns = count(r, ASSAY_COUNT_ROOF),
		.roof_op = r->roof.op,
		.roof_name = r->roof.name,
		.ops_per_s = metric(r, "ops_per_s"),
		.bytes_per_s = metric(r, "bytes_per_s"),
		.level = level_of(run, r),
		.reach = NAN,
		.more_threads = more_threads_of(run, r),
		.run_efficiency = run_efficiency_of(run),
		.region_ns = region_ns_of(run, r->c.threads),
		.stall_frac = metric(r, "stall_frac"),
		.efficiency = metric(r, "parallel_efficiency"),
		.allocation_frac = NAN,
		.allocations = count(r, "heap_allocations"),
		.faults = count(r, "minor_faults"),
		.waits = count(r, "voluntary_switches"),
		.fallbacks = count(r, "fallbacks"),
	};
	out->supply = supply_of(run, r, out->level);
	for (int l = 0; l < ASSAY_N_LEVELS; l++)
		out->bandwidth[l] = bandwidth_of(run, &r->c, r->c.threads, level_names[l]);
	read_peaks(run, r, out);
	read_instructions(run, r, out);
	read_parts(r, out);
	read_words(run, r, out);
	if (reach)
		read_reach(run, r, out);
}
