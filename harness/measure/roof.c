/* SPDX-License-Identifier: Apache-2.0 */
/* The time that bandwidth or arithmetic allow a case, from what the run reached in ops that measure these. */
#include "measure/roof.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum level { LEVEL_L1, LEVEL_L2, LEVEL_L3, LEVEL_DRAM, LEVEL_2XLLC };

static const char *const level_names[] = { "l1", "l2", "l3", "dram", "2xllc" };

/* NULL: a case of such an op is not held against any peak. */
static const char *arith_name(uint32_t arith)
{
	static const char *const names[] = {
		[ASSAY_ARITH_NONE] = NULL,
		[ASSAY_ARITH_F32] = "f32",
		[ASSAY_ARITH_I8] = "i8",
		[ASSAY_ARITH_TERNARY] = "ternary",
	};

	return arith < sizeof(names) / sizeof(names[0]) ? names[arith] : NULL;
}

/*
 * Where the data of a case lives while it is repeated. Of data little larger than a core's own caches much stays in
 * them, so that only the faster level bounds it; of one to four last-level caches, read in the same order every time,
 * a part stays there.
 */
static enum level level_of(const struct assay_case *c, const struct assay_case_facts *f,
			   const struct assay_host_info *host)
{
	double bytes = (double)f->tensor_bytes, own = 1.25 * c->threads;

	/* of a device the host's caches say nothing */
	if (c->device[0] || c->cache == ASSAY_CACHE_COLD || bytes > 4.0 * (double)host->llc_bytes)
		return LEVEL_DRAM;
	if (bytes > (double)host->llc_bytes)
		return LEVEL_2XLLC;
	if (bytes > own * (double)host->l2_bytes)
		return LEVEL_L3;
	return bytes > own * (double)host->l1d_bytes ? LEVEL_L2 : LEVEL_L1;
}

/* Is @f of an op that measures limit @i of a case with data at @level and this arithmetic? */
static bool measures(const struct assay_case *c, const struct assay_case_facts *f, enum assay_limit i,
		     const char *level, uint32_t arith)
{
	static const uint32_t of[ASSAY_N_LIMITS] = { ASSAY_MEASURES_READ, ASSAY_MEASURES_COPY, ASSAY_MEASURES_PEAK };

	if (f->measures != of[i])
		return false;
	return i == ASSAY_LIMIT_PEAK ? f->cost.arith == arith : c->n_axes && !strcmp(c->axes[0].text, level);
}

#define LEAST_SAMPLES 6 /* fewer have no 95 % interval of their median */

/* A limit that was not measured so well that cases could be held against it is none. */
static void find_at(enum level at, const struct assay_run *run, const struct assay_case_facts *facts,
		    const struct assay_case *c, const struct assay_case_facts *f, struct assay_limits *l)
{
	static const char *const rates[ASSAY_N_LIMITS] = { "bytes_per_s", "bytes_per_s", "ops_per_s" };
	const char *level = level_names[at];

	*l = (struct assay_limits){ .level = level };
	for (size_t k = 0; k < run->n_results; k++) {
		const struct assay_result *r = &run->results[k];

		if (r->status != ASSAY_STATUS_OK || r->c.threads != c->threads || strcmp(r->c.device, c->device))
			continue;
		for (int i = 0; i < ASSAY_N_LIMITS; i++) {
			const struct assay_metric *m = assay_result_metric(r, rates[i]);

			if ((i == ASSAY_LIMIT_PEAK && !arith_name(f->cost.arith)) ||
			    !measures(&r->c, &facts[k], (enum assay_limit)i, level, f->cost.arith))
				continue;
			l->measured[i] = true;
			if (!m || m->value <= l->rate[i] || r->n_samples < LEAST_SAMPLES)
				continue;
			l->rate[i] = m->value;
			l->at[i] = k;
			l->op[i] = r->c.op;
		}
	}
}

void assay_limits_find(const struct assay_run *run, const struct assay_case_facts *facts, const struct assay_case *c,
		       const struct assay_case_facts *f, const struct assay_host_info *host, struct assay_limits *l)
{
	enum level at = level_of(c, f, host);

	find_at(at, run, facts, c, f, l);
	if (at == LEVEL_2XLLC && !l->measured[ASSAY_LIMIT_READ])
		find_at(LEVEL_DRAM, run, facts, c, f, l);
}

/*
 * As many bytes as are both read and written go at the rate of copying, the rest at the rate of reading (bytes only
 * written: of copying). Where one of them was not measured the other stands for it.
 */
static void moving(const struct assay_limits *l, const struct assay_cost *cost, double of[ASSAY_N_LIMITS])
{
	double read = l->rate[ASSAY_LIMIT_READ], copy = l->rate[ASSAY_LIMIT_COPY];
	double both = fmin(cost->bytes_read, cost->bytes_written), copied = both + cost->bytes_written,
	       only_read = cost->bytes_read - both;

	if (read > 0 && copy > 0) {
		of[ASSAY_LIMIT_READ] = only_read / read;
		of[ASSAY_LIMIT_COPY] = copied / copy;
	} else if (read > 0) {
		of[ASSAY_LIMIT_READ] = (only_read + copied) / read;
	} else if (copy > 0) {
		of[ASSAY_LIMIT_COPY] = (only_read + copied) / copy;
	}
}

static void name_roof(struct assay_result_roof *roof, enum assay_bound bound, const char *op, const char *name)
{
	roof->bound = bound;
	snprintf(roof->op, sizeof(roof->op), "%s", op);
	snprintf(roof->name, sizeof(roof->name), "%s", name);
}

void assay_roof_find(const struct assay_limits *l, const struct assay_case *c, const struct assay_case_facts *f,
		     struct assay_roof *out)
{
	const char *level = l->level, *arith = arith_name(f->cost.arith);
	static const char no_interval[] = "has no 95 % interval", none[] = "has no measurement";
	bool moves = f->cost.bytes_read + f->cost.bytes_written > 0;
	enum assay_limit most;
	double moving_s;

	*out = (struct assay_roof){ 0 };
	moving(l, &f->cost, out->of);
	if (l->rate[ASSAY_LIMIT_PEAK] > 0)
		out->of[ASSAY_LIMIT_PEAK] = f->cost.ops / l->rate[ASSAY_LIMIT_PEAK];
	moving_s = out->of[ASSAY_LIMIT_READ] + out->of[ASSAY_LIMIT_COPY];
	if (f->measures) {
		assay_err_set(&out->why, ASSAY_EUNAVAILABLE, "it is a limit that others are compared with");
	} else if (moves && !(moving_s > 0)) {
		assay_err_set(&out->why, ASSAY_EUNAVAILABLE,
			      "the run %s of read or copy bandwidth at %s on %u thread%s",
			      l->measured[ASSAY_LIMIT_READ] || l->measured[ASSAY_LIMIT_COPY] ? no_interval : none,
			      level, c->threads, c->threads == 1 ? "" : "s");
	} else if (arith && !(l->rate[ASSAY_LIMIT_PEAK] > 0)) {
		assay_err_set(&out->why, ASSAY_EUNAVAILABLE, "the run %s of the %s peak on %u thread%s",
			      l->measured[ASSAY_LIMIT_PEAK] ? no_interval : none, arith, c->threads,
			      c->threads == 1 ? "" : "s");
	} else if (!(f->cost.ops > 0 && arith) && !moves) {
		assay_err_set(&out->why, ASSAY_EUNAVAILABLE,
			      "op '%s' declares no work that bandwidth or arithmetic bounds", c->op);
	} else if (out->of[ASSAY_LIMIT_PEAK] > moving_s) {
		out->seconds = out->of[ASSAY_LIMIT_PEAK];
		name_roof(&out->what, ASSAY_BOUND_ARITHMETIC, l->op[ASSAY_LIMIT_PEAK], arith_name(f->cost.arith));
	} else {
		out->seconds = moving_s;
		/* named after what holds most of the bytes */
		most = out->of[ASSAY_LIMIT_COPY] * l->rate[ASSAY_LIMIT_COPY] >
				       out->of[ASSAY_LIMIT_READ] * l->rate[ASSAY_LIMIT_READ]
			       ? ASSAY_LIMIT_COPY
			       : ASSAY_LIMIT_READ;
		name_roof(&out->what, ASSAY_BOUND_BANDWIDTH, l->op[most], level);
	}
}

/* For people: "stream.read at l3; in turn, 61.2 to 63.4 %", with '?' behind the range of too few turns. */
static void tell_roof(const struct assay_result_roof *roof, struct assay_count *roof_ns)
{
	bool memory = roof->bound == ASSAY_BOUND_BANDWIDTH;
	size_t at = (size_t)snprintf(roof_ns->how, sizeof(roof_ns->how), "%s%s%s", roof->op, memory ? " at " : "",
				     memory ? roof->name : "");

	if (roof->in_turn.most_frac > 0)
		snprintf(roof_ns->how + at, sizeof(roof_ns->how) - at, "; in turn, %.1f to %.1f %%%s",
			 100 * roof->in_turn.least_frac, 100 * roof->in_turn.most_frac,
			 roof->in_turn.reached ? "" : "?");
}

void assay_roof_widen(struct assay_result *r, const struct assay_result *round)
{
	struct assay_roof_range *all = &r->roof.in_turn;
	const struct assay_roof_range *more = &round->roof.in_turn;

	if (!(all->most_frac > 0 && more->most_frac > 0))
		return;
	all->least_frac = fmin(all->least_frac, more->least_frac);
	all->most_frac = fmax(all->most_frac, more->most_frac);
	all->reached = all->reached && more->reached;
	for (size_t i = 0; i < r->counters.n; i++)
		if (!strcmp(r->counters.v[i].name, ASSAY_COUNT_ROOF))
			tell_roof(&r->roof, &r->counters.v[i]);
}

bool assay_roof_has(const struct assay_result *r)
{
	return r->roof.bound != ASSAY_BOUND_NONE || assay_counters_find_missing(&r->counters, "roof_frac");
}

int assay_roof_add_share(struct assay_result *r, const char *tag, double value)
{
	const struct assay_metric_info *m = assay_metric_find(tag);
	struct assay_err why = { 0 };

	if (!assay_metric_check(tag, value, m->lo, m->hi, &why))
		return assay_result_add_metric(r, m->tag, m->unit, m->better, value);
	return assay_counters_add_missing(&r->counters, tag, ASSAY_SOURCE_ASSAY, why.text);
}

int assay_roof_add(struct assay_result *r, const struct assay_roof *roof)
{
	struct assay_count c = {
		.name = ASSAY_COUNT_ROOF, .source = ASSAY_SOURCE_ASSAY, .per_iteration = true, .running_frac = 1
	};

	if (!(roof->seconds > 0))
		return assay_counters_add_missing(&r->counters, "roof_frac", ASSAY_SOURCE_ASSAY, roof->why.text);
	c.value = roof->seconds * 1e9;
	tell_roof(&roof->what, &c);
	r->roof = roof->what;
	return assay_roof_add_share(r, "roof_frac", c.value / r->median_ns) || assay_counters_add(&r->counters, &c);
}

int assay_roof_add_of_run(const struct assay_run *run, const struct assay_case_facts *facts,
			  const struct assay_case_facts *f, const struct assay_host_info *host, struct assay_result *r)
{
	struct assay_limits limits;
	struct assay_roof roof;

	assay_limits_find(run, facts, &r->c, f, host, &limits);
	assay_roof_find(&limits, &r->c, f, &roof);
	return assay_roof_add(r, &roof);
}
