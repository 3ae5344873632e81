/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"

/* The part of a change that may be left unexplained: a third of the change, and a factor of 1.5 whatever the change. */
#define REST_FRAC   (1.0 / 3.0)
#define REST_FACTOR 1.5
/* From this share of the roof on, the faster side may be held back by that. */
#define AT_ROOF 0.5

enum kind {
	PROPORTIONAL, /* the time goes with it */
	INVERSE,      /* the time goes with one over it */
	PRICED,       /* each costs time, least to most */
};

/*
 * Costs in ns, least and most: cache misses from a transfer that overlaps with others to the latency of the next level;
 * mispredictions 10 to 25 cycles; faults, calls and switches from lmbench-like tests of bare and virtual machines.
 */
struct rule {
	const char *name;
	enum kind kind;
	double least_ns, most_ns; /* 0: no price limits it */
	const char *what;         /* moved */
	bool counted;             /* fewer, not less, of it */
};

#define INSTRUCTIONS "instructions"

/* In the order of the ladder. */
static const struct rule rules[] = {
	{ "exact_instructions", PROPORTIONAL, 0, 0, INSTRUCTIONS, true },
	{ "exact_ll_misses", PROPORTIONAL, 1, 200, "misses of the last-level cache", true },
	{ "exact_d1_misses", PROPORTIONAL, 1, 20, "misses of the level-1 data cache", true },
	{ "exact_mispredictions", PRICED, 2, 8, "mispredicted branches", true },
	{ "syscalls", PRICED, 50, 5000, "system calls", true },
	{ "PAPI_TOT_INS", PROPORTIONAL, 0, 0, INSTRUCTIONS, true },
	{ "PAPI_L3_TCM", PROPORTIONAL, 1, 200, "misses of the last-level cache", true },
	{ "PAPI_L2_TCM", PROPORTIONAL, 1, 60, "misses of the level-2 cache", true },
	{ "PAPI_L1_DCM", PROPORTIONAL, 1, 20, "misses of the level-1 data cache", true },
	{ "PAPI_TLB_DM", PROPORTIONAL, 1, 100, "misses of the data TLB", true },
	{ "PAPI_BR_MSP", PRICED, 2, 8, "mispredicted branches", true },
	{ "kv_misses", PROPORTIONAL, 0, 0, "misses of the KV cache", true },
	{ "heap_allocations", PRICED, 10, 1000, "allocations", true },
	{ "minor_faults", PRICED, 100, 5000, "page faults", true },
	{ "major_faults", PRICED, 20e3, 20e6, "page faults that read a disk", true },
	{ "voluntary_switches", PRICED, 500, 20e3, "waits in the kernel", true },
	{ "roof_ns", PROPORTIONAL, 0, 0, "time that the roof of the machine allows", false },
	{ "parallel_efficiency", INVERSE, 0, 0, "efficiency of the threads", false },
};
#define N_RULES (sizeof(rules) / sizeof(rules[0]))

static bool measured(const struct assay_diff_number *m)
{
	return m && isfinite(m->value[ASSAY_DIFF_BASE]) && isfinite(m->value[ASSAY_DIFF_HEAD]);
}

/* Share of the change that a proportional number explains; NaN: it does not. */
static double proportional(const struct assay_diff_case *c, const struct rule *r, const double v[2])
{
	double change = log(c->ratio), moved, rest, noise = log(c->hi / c->lo) / 2;
	double cost_ns = fabs(v[1] - v[0]) * r->most_ns / c->c.threads;

	if (!(v[0] > 0 && v[1] > 0))
		return NAN;
	moved = r->kind == INVERSE ? log(v[0] / v[1]) : log(v[1] / v[0]);
	rest = fabs(change - moved);
	if (moved * change <= 0 || rest > fmax(noise, REST_FRAC * fabs(change)) || rest > log(REST_FACTOR))
		return NAN;
	if (r->most_ns > 0 && cost_ns < fabs(c->ns[1] - c->ns[0]) / 2)
		return NAN;
	return moved / change;
}

/* The share of the roof that the faster side has, where instructions moved further than the time; else 0. */
static double held_by_roof(const struct assay_diff_case *c, const struct rule *r, const double v[2])
{
	const struct assay_diff_number *roof = assay_diff_number(c, "roof_frac");
	double share = roof ? roof->value[c->ratio < 1 ? ASSAY_DIFF_HEAD : ASSAY_DIFF_BASE] : 0;
	double change = log(c->ratio), moved = log(v[1] / v[0]);

	if (strcmp(r->what, INSTRUCTIONS) || !(v[0] > 0 && v[1] > 0) || moved / change < 1)
		return 0;
	return share >= AT_ROOF ? share : 0;
}

/* Can so many more or fewer account for the change? */
static bool priced(const struct assay_diff_case *c, const struct rule *r, const double v[2])
{
	double change_ns = c->ns[1] - c->ns[0], more = (v[1] - v[0]) / c->c.threads;

	return more * change_ns > 0 && fabs(more) * r->least_ns <= REST_FACTOR * fabs(change_ns) &&
	       fabs(more) * r->most_ns >= fabs(change_ns) / REST_FACTOR;
}

/* "2.4 M" of a count, "97.3 %" of a share. */
static void number_text(const struct rule *r, double v, char *buf, size_t size)
{
	if (!strcmp(r->name, "roof_ns"))
		assay_quantity_text(v * 1e-9, "s", true, buf, size);
	else if (r->kind == INVERSE)
		assay_metric_text("_frac", v, "1", true, buf, size);
	else if (fabs(v) >= 1e4)
		assay_quantity_text(v, "", true, buf, size);
	else
		assay_quantity_text(v, "1", true, buf, size);
	/* a scaled count without a unit ends in its prefix or in a blank */
	for (size_t n = strlen(buf); n && buf[n - 1] == ' '; n--)
		buf[n - 1] = '\0';
}

/* @share_of_roof: of the roof that holds the faster side back; 0: none does. */
static void explain(struct assay_diff_case *c, const struct rule *r, const struct assay_diff_number *m, double frac,
		    double share_of_roof)
{
	struct assay_diff_because *b = &c->because;
	char from[32], to[32], times[48] = "", share[64] = "";
	double ratio = m->value[1] > m->value[0] ? m->value[1] / m->value[0] : m->value[0] / m->value[1];

	snprintf(b->name, sizeof(b->name), "%s", m->name);
	snprintf(b->source, sizeof(b->source), "%s", m->source);
	memcpy(b->value, m->value, sizeof(b->value));
	b->explained_frac = frac;
	number_text(r, m->value[0], from, sizeof(from));
	number_text(r, m->value[1], to, sizeof(to));
	if (isfinite(ratio) && ratio >= 1.995)
		snprintf(times, sizeof(times), "%.*fx ", ratio < 9.95 ? 1 : 0, ratio);
	else if (isfinite(ratio))
		snprintf(times, sizeof(times), "%.1f %% ", 100 * fabs(m->value[1] / m->value[0] - 1));
	if (share_of_roof > 0)
		snprintf(share, sizeof(share), ", as far as the roof lets it (%.0f %%%s)", 100 * share_of_roof,
			 assay_limit_mark(share_of_roof));
	else if (isfinite(frac))
		snprintf(share, sizeof(share), ", %.0f %% of the change", 100 * frac);
	snprintf(b->text, sizeof(b->text), "%s%s %s%s%s%s: %s to %s%s", times,
		 m->value[1] > m->value[0] ? "more"
		 : r->counted              ? "fewer"
					   : "less",
		 r->what, m->source[0] ? " (" : "", m->source, m->source[0] ? ")" : "", from, to, share);
}

/* Which numbers both sides have, and that none explains the change. */
static void say_unknown(struct assay_diff_case *c)
{
	struct assay_diff_because *b = &c->because;
	size_t n = 0, used;

	used = (size_t)snprintf(b->text, sizeof(b->text), "no cause is known: ");
	for (size_t i = 0; i < N_RULES; i++)
		n += measured(assay_diff_number(c, rules[i].name)) && strcmp(rules[i].name, "roof_ns") != 0;
	if (!measured(assay_diff_number(c, "exact_instructions")) && !measured(assay_diff_number(c, "PAPI_TOT_INS")))
		snprintf(b->text + used, sizeof(b->text) - used,
			 "no instructions were counted on both sides, and no other count explains the change");
	else
		snprintf(b->text + used, sizeof(b->text) - used,
			 "none of the %zu counts changed as the time did, in direction and size", n);
}

void assay_because_find(struct assay_diff_case *c)
{
	c->because = (struct assay_diff_because){ .explained_frac = NAN };
	for (size_t i = 0; i < N_RULES; i++) {
		const struct rule *r = &rules[i];
		const struct assay_diff_number *m = assay_diff_number(c, r->name);
		double frac, roof = 0;

		if (!measured(m))
			continue;
		frac = r->kind == PRICED ? NAN : proportional(c, r, m->value);
		if (r->kind != PRICED && isnan(frac)) {
			roof = held_by_roof(c, r, m->value);
			frac = roof > 0 ? 1 : NAN;
		}
		if (r->kind == PRICED ? priced(c, r, m->value) : isfinite(frac)) {
			explain(c, r, m, frac, roof);
			return;
		}
	}
	say_unknown(c);
}
