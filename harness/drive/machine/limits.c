/* SPDX-License-Identifier: Apache-2.0 */
/* Limits from this run, from stored ones, or measured when a case is faster than all of these. */
#include "drive/machine/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure.h"
#include "model/metric.h"
#include "model/quantity.h"

/* A thread of any machine does so much: below, nothing is asked. */
#define PLAIN_BYTES_PER_S 50e9
#define PLAIN_OPS_PER_S   20e9
/* A limit may have been measured beside others. */
#define MOST_OVER_LIMIT 1.5
/* No thread does more, whatever an op that claims to measure the machine says: three vectors of 64 bytes at 6 GHz. */
#define MOST_BYTES_PER_S 1.2e12
#define MOST_OPS_PER_S   2e12

#define LEAST_S 1e-12 /* of a call that took no time at all */

#define LIMIT_BUDGET_NS  30000000u
#define LIMIT_TIMEOUT_NS 20000000000u

static bool moves(const struct assay_case_facts *f)
{
	return f->measures == ASSAY_MEASURES_READ || f->measures == ASSAY_MEASURES_COPY;
}

static double bytes_of(const struct assay_case_facts *f)
{
	return f->cost.bytes_read + f->cost.bytes_written;
}

/* The limit of operations that holds for a case of this arithmetic; NULL: none. */
static double *ops_limit(struct assay_machine_limits *l, const struct assay_case_facts *f)
{
	return f->cost.arith == ASSAY_ARITH_F32 || f->cost.arith == ASSAY_ARITH_I8 ? &l->ops_per_s[f->cost.arith]
										   : NULL;
}

void assay_machine_limits_learn(struct assay_machine_limits *l, const struct assay_case *c,
				const struct assay_case_facts *f, double seconds)
{
	double *ops = ops_limit(l, f);

	if (!(seconds > 0))
		return;
	if (moves(f))
		l->bytes_per_s = fmax(l->bytes_per_s, fmin(MOST_BYTES_PER_S, bytes_of(f) / seconds / c->threads));
	else if (f->measures == ASSAY_MEASURES_PEAK && ops)
		*ops = fmax(*ops, fmin(MOST_OPS_PER_S, f->cost.ops / seconds / c->threads));
}

/* The most that all threads of a case can do; @plain is a limit that always holds. 0: unknown. */
static double allowed(const struct assay_case *c, double limit, double plain)
{
	return MOST_OVER_LIMIT * c->threads * fmax(limit, plain);
}

/* Does the case exceed what is known, so that its rate and the limit can be told? */
static bool exceeds(struct assay_machine_limits *l, const struct assay_case *c, const struct assay_case_facts *f,
		    double seconds, double *rate, double *limit, const char **tag)
{
	const double *ops = ops_limit(l, f);

	*rate = bytes_of(f) / seconds;
	*limit = l->bytes_per_s * c->threads;
	*tag = "bytes_per_s";
	if (*rate > allowed(c, l->bytes_per_s, PLAIN_BYTES_PER_S))
		return true;
	*rate = f->cost.ops / seconds;
	*limit = ops ? *ops * c->threads : 0;
	*tag = "ops_per_s";
	return ops && *rate > allowed(c, *ops, PLAIN_OPS_PER_S);
}

/* ---- where limits come from -------------------------------------------------------------------------------------- */

/* The cases that may be limits, one thread each: of ops without axes, and at level l1 of those that have levels. */
static int candidates(const struct assay_catalog *cat, struct assay_case **out, size_t *n, struct assay_err *err)
{
	*n = 0;
	*out = calloc(cat->n_variants + 1, sizeof(**out));
	if (!*out)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < cat->n_variants; i++) {
		const struct assay_catalog_variant *v = &cat->variants[i];
		const struct assay_catalog_op *op = assay_catalog_op(cat, v->op);
		struct assay_case *c = &(*out)[*n];
		size_t n_axes;

		if (v->unavailable || v->device_kind != ASSAY_DEVICE_CPU || !op || op->composes || op->program)
			continue;
		n_axes = assay_catalog_named_axes(op);
		if (n_axes > 1)
			continue;
		*c = (struct assay_case){ .threads = 1,
					  .n_axes = (unsigned)n_axes,
					  .budget_ns = LIMIT_BUDGET_NS,
					  .timeout_ns = LIMIT_TIMEOUT_NS };
		if (n_axes && (!op->axes[0].symbols.n || strcmp(op->axes[0].symbols.v[0], "l1")))
			continue;
		if (n_axes)
			snprintf(c->axes[0].text, sizeof(c->axes[0].text), "l1");
		snprintf(c->axes[0].name, sizeof(c->axes[0].name), "%s", n_axes ? op->axes[0].name : "");
		snprintf(c->op, sizeof(c->op), "%s", v->op);
		snprintf(c->variant, sizeof(c->variant), "%s", v->name);
		if (assay_case_make_key(c, err))
			return ASSAY_ELIMIT;
		++*n;
	}
	return 0;
}

/* The shortest median of the case on this machine; infinite where there is none. */
static double stored_s(const struct assay_limits_source *from, const char *key)
{
	struct assay_trend_point *p = NULL;
	double least_ns = INFINITY;
	size_t n = 0;

	if (!from->store || assay_store_trend(from->store, key, from->machine_id, &p, &n, NULL))
		return INFINITY;
	for (size_t i = 0; i < n; i++)
		least_ns = fmin(least_ns, p[i].median_ns);
	free(p);
	return least_ns * 1e-9;
}

static int measured_s(const struct assay_limits_source *from, const struct assay_case *c,
		      const struct assay_case_facts *f, double *seconds, struct assay_err *err)
{
	struct assay_measure_options o = *from->measure;
	struct assay_result r;
	int rc;

	o.progress = NULL;
	o.timeouts = NULL; /* these two are of another case */
	o.accepted = NULL;
	rc = assay_measure_case(c, from->catalog, f, &o, &r, err);
	*seconds = !rc && r.status == ASSAY_STATUS_OK ? r.median_ns * 1e-9 : INFINITY;
	assay_result_release(&r);
	return rc;
}

/* Learn from what is stored of all candidates, or by measuring them. */
static int find(struct assay_machine_limits *l, const struct assay_limits_source *from, bool measure,
		struct assay_err *err)
{
	struct assay_case *cases;
	struct assay_case_facts *facts;
	size_t n;
	int rc = candidates(from->catalog, &cases, &n, err);

	facts = calloc(n + 1, sizeof(*facts));
	if (!facts)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < n && !rc; i++) {
		double seconds = INFINITY;

		/* an op that refuses to be asked so measures nothing */
		if (assay_inventory_describe(from->inventory, &cases[i], 1, &facts[i], NULL) || !facts[i].timed ||
		    !(moves(&facts[i]) || facts[i].measures == ASSAY_MEASURES_PEAK))
			continue;
		if (measure)
			rc = measured_s(from, &cases[i], &facts[i], &seconds, err);
		else
			seconds = stored_s(from, cases[i].key);
		assay_machine_limits_learn(l, &cases[i], &facts[i], seconds);
	}
	free(facts);
	free(cases);
	return rc;
}

int assay_machine_limits_judge(struct assay_machine_limits *l, const struct assay_limits_source *from,
			       const struct assay_case *c, const struct assay_case_facts *f, double seconds,
			       char reason[256], struct assay_err *err)
{
	const struct assay_catalog_variant *v = assay_catalog_variant(from->catalog, c->op, c->variant);
	char rates[2][32];
	const char *tag;
	double rate, limit;
	int rc = 0;

	reason[0] = '\0';
	if (f->measures != ASSAY_MEASURES_NOTHING || (v && v->device_kind != ASSAY_DEVICE_CPU))
		return 0;
	seconds = fmax(seconds, LEAST_S);
	if (exceeds(l, c, f, seconds, &rate, &limit, &tag) && !l->loaded) {
		rc = find(l, from, false, err);
		l->loaded = true;
	}
	if (!rc && exceeds(l, c, f, seconds, &rate, &limit, &tag) && !l->measured) {
		rc = find(l, from, true, err);
		l->measured = true;
	}
	if (rc || !exceeds(l, c, f, seconds, &rate, &limit, &tag) || !(limit > 0))
		return rc;
	assay_metric_text(tag, rate, assay_metric_find(tag)->unit, true, rates[0], sizeof(rates[0]));
	assay_metric_text(tag, limit, assay_metric_find(tag)->unit, true, rates[1], sizeof(rates[1]));
	snprintf(reason, 256, "faster than this machine allows: %s of %s", rates[0], rates[1]);
	return 0;
}
