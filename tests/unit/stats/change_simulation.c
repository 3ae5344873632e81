/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change points of simulated series of which the truth is known. All draws come from Philox by a fixed seed. With
 * SERIES=1000 in the environment it takes as many of each kind, and prints the tables of harness/stats/README.md.
 */
#include "unit.h"

#include <math.h>
#include <time.h>

#include "draws.h"
#include "stats/change_points.h"
#include "stats/distributions.h"

#define POINTS 200
#define NEAR   10 /* a change this far from the step is still the step */
#define NOISE  0.02

static unsigned n_series = 200;
static bool shown; /* the tables are asked for */

enum noise { NORMAL, HEAVY, AUTOCORRELATED, TWO_STATES, STATES_OF_5, STATES_OF_10, SPIKES, STORED, N_NOISE };

static const char *const names[N_NOISE] = { "normal",
					    "Student's t, 3 degrees of freedom",
					    "autocorrelated, 0.3",
					    "two states, 4 % apart, drawn for each run",
					    "two states that last 5 runs",
					    "two states that last 10 runs",
					    "normal, and spikes of 20 to 220 % in 3 % of the runs",
					    "stored medians, resampled" };

/*
 * Medians of 172 cases, each with five runs and more of one build on one shared virtual machine, against the median of
 * their case: 120 quantiles of all, as logarithms, in units of 0.0001.
 */
static const short stored[] = { -5541, -1773, -1112, -837, -640, -561, -502, -440, -412, -393, -352, -335, -311, -295,
				-281,  -264,  -253,  -247, -224, -209, -200, -193, -182, -168, -157, -148, -142, -134,
				-124,  -120,  -115,  -111, -103, -95,  -89,  -84,  -79,  -70,  -63,  -53,  -48,  -43,
				-40,   -33,   -30,   -28,  -25,  -22,  -19,  -16,  -12,  -10,  -5,   -4,   -4,   -2,
				-1,    0,     0,     0,    0,    0,    0,    1,    2,    4,    5,    8,    10,   12,
				16,    19,    22,    26,   30,   37,   41,   48,   54,   63,   72,   79,   85,   96,
				105,   113,   119,   124,  134,  145,  160,  171,  179,  187,  204,  213,  224,  230,
				237,   245,   256,   267,  299,  313,  338,  352,  372,  399,  424,  470,  533,  583,
				686,   765,   886,   1206, 1626, 3231, 5634, 9210 };

struct machine {
	double memory;
	bool slow;
};

static bool leaves_state(enum noise kind, struct draws *d)
{
	static const double runs[N_NOISE] = { [TWO_STATES] = 2, [STATES_OF_5] = 5, [STATES_OF_10] = 10 };

	return draw_uniform(d) < 1 / runs[kind];
}

/* Logarithm of what the machine adds to the next run. */
static double disturb(struct machine *m, enum noise kind, struct draws *d)
{
	double e = NOISE * draw_normal(d);

	switch (kind) {
	case HEAVY:
		return NOISE * sqrt(3) * draw_heavy(d);
	case AUTOCORRELATED:
		return m->memory = 0.3 * m->memory + sqrt(1 - 0.3 * 0.3) * e;
	case TWO_STATES:
	case STATES_OF_5:
	case STATES_OF_10:
		m->slow ^= leaves_state(kind, d);
		return e / 4 + (m->slow ? 0.04 : 0);
	case SPIKES:
		return draw_uniform(d) < 0.03 ? e + log(1.2 + 2 * draw_uniform(d)) : e;
	case STORED:
		return 0.0001 * stored[draw_word(d) % N_OF(stored)];
	default:
		return e;
	}
}

static void simulate(double *x, size_t n, enum noise kind, struct draws *d)
{
	struct machine m = { .memory = NOISE * draw_normal(d), .slow = draw_uniform(d) < 0.5 };

	for (size_t i = 0; i < n; i++)
		x[i] = 1000 * exp(disturb(&m, kind, d));
}

static struct assay_change *find_in(const double *x, size_t n, size_t *changes)
{
	const struct assay_change_rule rule = { 0 };
	struct assay_change_points s;
	struct assay_change *v;

	assay_change_points_init(&s, 0);
	assert_int_equal(assay_change_points_add(&s, x, n), 0);
	assert_int_equal(assay_change_points_find(&s, &rule, &v, changes), 0);
	assay_change_points_release(&s);
	return v;
}

/* ---- series without a change ---- */

static unsigned with_any(enum noise kind, size_t n, uint64_t seed)
{
	struct draws d = { .seed = seed };
	unsigned any = 0;

	for (unsigned k = 0; k < n_series; k++) {
		double x[POINTS];
		size_t changes;

		simulate(x, n, kind, &d);
		free(find_in(x, n, &changes));
		any += changes > 0;
	}
	return any;
}

TEST(unchanged_series)
{
	static const size_t lengths[] = { 20, 50, POINTS };

	for (enum noise kind = 0; kind < N_NOISE; kind++) {
		unsigned any[N_OF(lengths)];

		for (size_t i = 0; i < N_OF(lengths); i++) {
			any[i] = with_any(kind, lengths[i], 100 + kind);
			/* long states are changes, as far as a short series can tell */
			if ((lengths[i] == POINTS || (kind != STATES_OF_10 && kind != STATES_OF_5)) &&
			    assay_stats_binomial_ci(any[i], n_series, 0.98).lo > ASSAY_CHANGE_POINTS_ALPHA)
				fail_msg("%s: %u of %u series of %zu points", names[kind], any[i], n_series,
					 lengths[i]);
		}
		if (shown)
			print_message("| %s | %u | %u | %u |\n", names[kind], any[0], any[1], any[2]);
	}
}

/* ---- series with one step ---- */

struct hits {
	unsigned found, others;
	unsigned off[NEAR + 1]; /* found so far from the step */
};

static void find_step(struct hits *h, const double *x, size_t n, size_t at)
{
	size_t changes, off = NEAR + 1;
	struct assay_change *v = find_in(x, n, &changes);

	for (size_t i = 0; i < changes; i++) {
		size_t apart = v[i].at > at ? v[i].at - at : at - v[i].at;

		h->others += apart > NEAR;
		off = apart < off ? apart : off;
	}
	if (off <= NEAR) {
		h->found++;
		h->off[off]++;
	}
	free(v);
}

static struct hits with_step(enum noise kind, size_t n, double step, uint64_t seed)
{
	struct draws d = { .seed = seed };
	struct hits h = { 0 };

	for (unsigned k = 0; k < n_series; k++) {
		size_t at = n / 10 + draw_word(&d) % (n * 8 / 10);
		double x[POINTS], ratio = draw_word(&d) & 1 ? 1 + step : 1 / (1 + step);

		simulate(x, n, kind, &d);
		for (size_t i = at; i < n; i++)
			x[i] *= ratio;
		find_step(&h, x, n, at);
	}
	return h;
}

static unsigned median_off(const struct hits *h)
{
	unsigned below = 0, off = 0;

	while (off < NEAR && 2 * (below += h->off[off]) < h->found)
		off++;
	return off;
}

static const struct {
	enum noise noise;
	size_t n;
	double step, found_least;
} steps[] = {
	{ NORMAL, POINTS, 0.01, 0 },
	{ NORMAL, POINTS, 0.02, 0.6 },
	{ NORMAL, POINTS, 0.05, 0.95 },
	{ NORMAL, 50, 0.05, 0 },
	{ NORMAL, 50, 0.1, 0.8 },
	{ HEAVY, POINTS, 0.05, 0.95 },
	{ AUTOCORRELATED, POINTS, 0.05, 0.95 },
	{ TWO_STATES, POINTS, 0.05, 0.95 },
	{ SPIKES, POINTS, 0.05, 0.95 },
	{ STORED, POINTS, 0.05, 0.8 },
};

TEST(steps_are_found)
{
	for (size_t i = 0; i < N_OF(steps); i++) {
		struct hits h = with_step(steps[i].noise, steps[i].n, steps[i].step, 200 + i);

		if (assay_stats_binomial_ci(h.found, n_series, 0.98).hi < steps[i].found_least)
			fail_msg("%s: %u of %u steps of %g", names[steps[i].noise], h.found, n_series, steps[i].step);
		if (steps[i].step >= 0.05 && median_off(&h) > (steps[i].noise == STORED))
			fail_msg("%s: half of the steps are found %u off", names[steps[i].noise], median_off(&h));
		if (shown)
			print_message("| %s | %zu | %g %% | %u | %u | %u | %u |\n", names[steps[i].noise], steps[i].n,
				      100 * steps[i].step, h.found, median_off(&h),
				      h.off[0] + h.off[1] + h.off[2] + h.off[3], h.others);
	}
}

/* ---- how long it takes ---- */

static double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

TEST(long_series)
{
	enum { LONG = 10000, EVERY = 250 };
	const struct assay_change_rule rule = { 0 };
	double *x = malloc((LONG + 100) * sizeof(*x)), start, whole, one;
	struct draws d = { .seed = 300 };
	struct assay_change_points s;
	struct assay_change *v;
	size_t n;

	assert_non_null(x);
	simulate(x, LONG + 100, NORMAL, &d);
	for (size_t i = 0; i < LONG + 100; i++)
		x[i] *= i / EVERY % 2 ? 1.05 : 1;
	assay_change_points_init(&s, 0);
	start = seconds();
	assert_int_equal(assay_change_points_add(&s, x, LONG), 0);
	assert_int_equal(assay_change_points_find(&s, &rule, &v, &n), 0);
	whole = seconds() - start;
	assert_int_equal(n, LONG / EVERY - 1);
	free(v);
	start = seconds();
	for (size_t i = 0; i < 100; i++) {
		assert_int_equal(assay_change_points_add(&s, x + LONG + i, 1), 0);
		assert_int_equal(assay_change_points_find(&s, &rule, &v, &n), 0);
		free(v);
	}
	one = (seconds() - start) / 100;
	if (shown)
		print_message("%d points: %.1f ms; one more: %.2f ms\n", LONG, 1e3 * whole, 1e3 * one);
	assay_change_points_release(&s);
	free(x);
}

static int set_up(void **state)
{
	const char *n = getenv("SERIES");

	(void)state;
	shown = n;
	if (n)
		n_series = (unsigned)strtoul(n, NULL, 10);
	return n_series ? 0 : -1;
}

UNIT_GROUP(set_up, NULL)
