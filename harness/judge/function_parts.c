/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/function_blame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/distributions.h"

#define LEAST_FRAC      0.01 /* of either side that a function takes to be asked about */
#define LEAST_DISPERSED 0.25 /* samples of few pairs may agree by chance */
#define COUNT_FRAC      1e-4 /* of instructions more or less that are no change: counts of set-up differ by few */
#define Z_95            1.6448536269514722
#define Z_95_TWO_SIDED  1.959963984540054

struct shares {
	double n[2];                                /* samples of a side */
	double of_pair[2][ASSAY_BECAUSE_PAIRS_MAX]; /* samples of a pair */
};

/* The facts known of a function before it is sampled. */
static double weigh(const struct assay_because_function *f)
{
	const bool counted = f->counted[0] >= 0 && f->counted[1] >= 0;

	if (counted && fabs(f->counted[1] - f->counted[0]) > COUNT_FRAC * fmax(f->counted[0], f->counted[1]))
		return 1;
	return f->code == ASSAY_CODE_SAME || (counted && f->code == ASSAY_CODE_UNKNOWN) ? ASSAY_BLAME_CHANCE : 1;
}

static double share(uint64_t weight, double of)
{
	return of > 0 ? (double)weight / of : 0;
}

/* Variances of a part: of samples drawn one by one, and of the mean of pairs. */
struct spread {
	double drawn, pairs;
};

static struct spread find_part(const struct assay_function_parts *p, const struct assay_because_evidence *e,
			       const struct shares *s, double ratio, struct assay_function_part *out)
{
	const struct assay_because_function *f = out->f;
	const double n = (double)e->n_pairs, ns[2] = { p->base_ns, p->base_ns * ratio };
	struct spread v = { 0, 0 };
	double at[ASSAY_BECAUSE_PAIRS_MAX];

	out->change = 0;
	out->even = 0;
	for (size_t k = 0; k < e->n_pairs; k++) {
		at[k] = ns[1] * share(f->weight[1][k], s->of_pair[1][k]) -
			ns[0] * share(f->weight[0][k], s->of_pair[0][k]);
		out->change += at[k] / n;
		out->even += p->whole_ns * share(f->weight[0][k], s->of_pair[0][k]) / n;
	}
	for (size_t k = 0; k < e->n_pairs && n > 1; k++)
		v.pairs += pow(at[k] - out->change, 2) / (n - 1) / n;
	for (unsigned side = 0; side < 2; side++) {
		uint64_t own = 0;
		double q;

		for (size_t k = 0; k < e->n_pairs; k++)
			own += f->weight[side][k];
		/* a function without samples may take as much as one */
		q = fmax(share(own, s->n[side]), 1 / s->n[side]);
		v.drawn += ns[side] * ns[side] * q * (1 - fmin(q, 1 - 1 / s->n[side])) / s->n[side];
	}
	return v;
}

/* The 95 % quantile of chi-square over its degrees of freedom (Wilson & Hilferty 1931). */
static double most_by_chance(double df)
{
	return pow(1 - 2 / (9 * df) + Z_95 * sqrt(2 / (9 * df)), 3);
}

static void find_errors(struct assay_function_parts *p, const struct spread *v, size_t n_pairs)
{
	const double df = (double)n_pairs - 1;
	double drawn = 0, pairs = 0, dispersion;

	for (size_t i = 0; i < p->n; i++) {
		drawn += v[i].drawn;
		pairs += v[i].pairs;
	}
	dispersion = drawn > 0 ? fmax(LEAST_DISPERSED, pairs / drawn) : 1;
	p->df = df * fmax(1, (double)p->n - 1);
	for (size_t i = 0; i < p->n; i++)
		p->v[i].error =
			n_pairs > 1 ? sqrt(fmax(dispersion * v[i].drawn, v[i].pairs / most_by_chance(df))) : INFINITY;
}

/* The log of what the samples say for "it alone" against "none", and of what is known before. */
static double support(const struct assay_function_parts *p, const struct assay_function_part *f)
{
	const double own = f->error * f->error, both = own + p->whole_error * p->whole_error;

	return log(f->weight) - log(both / own) / 2 + f->change * f->change / own / 2 -
	       pow(f->change - p->whole_ns, 2) / both / 2;
}

/* The same for "all functions alike". */
static double support_of_even(const struct assay_function_parts *p)
{
	double weight = 1, sum = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct assay_function_part *f = &p->v[i];

		weight = fmin(weight, f->weight);
		sum += (f->change * f->change - pow(f->change - f->even, 2)) / (f->error * f->error) / 2;
	}
	return log(weight) + sum;
}

static void find_probabilities(struct assay_function_parts *p)
{
	const double even = p->n > 1 ? support_of_even(p) : -INFINITY;
	double most = -INFINITY, sum;

	for (size_t i = 0; i < p->n; i++) {
		const double here = support(p, &p->v[i]);

		if (here > most) {
			most = here;
			p->most = i;
		}
	}
	sum = exp(even - most);
	for (size_t i = 0; i < p->n; i++)
		sum += exp(support(p, &p->v[i]) - most);
	for (size_t i = 0; i < p->n; i++)
		p->v[i].probability = exp(support(p, &p->v[i]) - most) / sum;
}

static int by_change(const void *a, const void *b)
{
	const struct assay_function_part *x = a, *y = b;
	const double p = fabs(x->change), q = fabs(y->change);

	if (p != q)
		return p < q ? 1 : -1;
	return strcmp(x->f->name, y->f->name);
}

static bool is_asked(const struct assay_because_function *f, const struct shares *s, size_t n_pairs)
{
	for (unsigned side = 0; side < 2; side++) {
		double own = 0;

		for (size_t k = 0; k < n_pairs; k++)
			own += (double)f->weight[side][k];
		if (own >= LEAST_FRAC * s->n[side])
			return true;
	}
	return false;
}

void assay_function_parts(struct assay_function_parts *p, const struct assay_because_evidence *e, double base_ns,
			  double ratio, struct assay_interval ci)
{
	struct spread v[ASSAY_PARTS_MAX];
	struct shares s;

	memset(p, 0, sizeof(*p));
	memset(&s, 0, sizeof(s));
	for (size_t i = 0; i < e->n; i++)
		for (unsigned side = 0; side < 2; side++)
			for (size_t k = 0; k < e->n_pairs; k++) {
				s.of_pair[side][k] += (double)e->functions[i].weight[side][k];
				s.n[side] += (double)e->functions[i].weight[side][k];
			}
	p->samples[0] = s.n[0];
	p->samples[1] = s.n[1];
	p->base_ns = base_ns;
	p->whole_ns = p->base_ns * (ratio - 1);
	p->whole_error = p->base_ns * (ci.hi - ci.lo) / 2 / Z_95_TWO_SIDED;
	if (!(s.n[0] > 0 && s.n[1] > 0))
		return;
	for (size_t i = 0; i < e->n && p->n < ASSAY_PARTS_MAX; i++) {
		if (!is_asked(&e->functions[i], &s, e->n_pairs))
			continue;
		p->v[p->n] = (struct assay_function_part){ .f = &e->functions[i], .weight = weigh(&e->functions[i]) };
		v[p->n] = find_part(p, e, &s, ratio, &p->v[p->n]);
		p->n++;
	}
	find_errors(p, v, e->n_pairs);
	qsort(p->v, p->n, sizeof(*p->v), by_change);
	find_probabilities(p);
}
