/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formulas of dimensions, from probes: shapes that differ from the first in one axis, or in the number of threads. A
 * dimension that grows in proportion to an axis has it as a factor; what is left over is a constant. A formula counts
 * only if it gives the dimension of every probe, so that one that rounds up, or adds, is not taken for a product.
 */
#include "drive/author/op_shape.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PROBES 64

struct probe {
	size_t varied; /* the axis in which it differs from the first; n_axes: the number of threads */
	int64_t axes[ASSAY_MAX_AXES];
	unsigned n_threads;
	struct assay_shape_facts facts;
};

struct probing {
	const struct assay_catalog_op *op;
	assay_op_ask_fn ask;
	void *arg;
	struct probe *v;
	size_t n;
};

/* Add the probe at v[n] if the op accepts it. 1: it does; 0: it does not; negative on any other error. */
static int try_probe(struct probing *p, struct assay_err *err)
{
	struct probe *x = &p->v[p->n];
	struct assay_err why = { 0 };
	int rc = p->ask(p->arg, p->op, x->axes, x->n_threads, &x->facts, &why);

	if (rc && rc != ASSAY_EUSAGE) {
		if (err)
			*err = why;
		return rc;
	}
	p->n += rc == 0;
	return rc == 0;
}

static bool in_range(const struct assay_catalog_axis *a, int64_t value)
{
	return a->symbols.n ? value >= 0 && (size_t)value < a->symbols.n : value >= a->min && value <= a->max;
}

/* A shape in which every axis that has no default is @value, or as near to it as it may be. */
static void set_all(const struct assay_catalog_op *op, int64_t value, int64_t *axes)
{
	for (size_t i = 0; i < op->n_axes; i++) {
		const struct assay_catalog_axis *a = &op->axes[i];

		if (a->def != INT64_MIN)
			axes[i] = a->def;
		else if (a->symbols.n)
			axes[i] = 0;
		else
			axes[i] = value < a->min ? a->min : value > a->max ? a->max : value;
	}
}

static int first_probe(struct probing *p, const int64_t *from, struct assay_err *err)
{
	static const int64_t sizes[] = { 1024, 4096, 256, 128, 64, 16, 8, 4, 2, 1, 1000, 3, 65536 };
	int rc = 0;

	p->v[0].n_threads = 1;
	if (from) {
		memcpy(p->v[0].axes, from, p->op->n_axes * sizeof(*from));
		rc = try_probe(p, err);
	}
	for (size_t i = 0; !from && !rc && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		set_all(p->op, sizes[i], p->v[0].axes);
		rc = try_probe(p, err);
	}
	if (!rc)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "op '%s' refuses every shape that was tried: name a folder with a bench of it "
				     "with --bench-dir",
				     p->op->name);
	return rc < 0 ? rc : 0;
}

/* The first shape, but with @value in one axis. 1: a probe more; 0: not one that the op accepts; negative: an error. */
static int try_value(struct probing *p, size_t axis, int64_t value, struct assay_err *err)
{
	struct probe *next = &p->v[p->n];

	if (p->n == MAX_PROBES || value == p->v[0].axes[axis] || !in_range(&p->op->axes[axis], value))
		return 0;
	*next = (struct probe){ .varied = axis, .n_threads = 1 };
	memcpy(next->axes, p->v[0].axes, sizeof(next->axes));
	next->axes[axis] = value;
	return try_probe(p, err);
}

static int vary_symbol(struct probing *p, size_t axis, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < p->op->axes[axis].symbols.n && rc >= 0; i++)
		rc = try_value(p, axis, (int64_t)i, err);
	return rc < 0 ? rc : 0;
}

/* Multiples of a number, and the least step up that the op accepts: they show a size that is rounded. */
static int vary_number(struct probing *p, size_t axis, struct assay_err *err)
{
	static const int64_t times[] = { 2, 3, 64 };
	const int64_t x = p->v[0].axes[axis];
	int rc = 0;

	if (x < 0 || x > INT64_MAX / 64)
		return 0;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]) && rc >= 0; i++)
		rc = try_value(p, axis, times[i] * x, err);
	if (rc >= 0)
		rc = try_value(p, axis, x / 2, err);
	rc = rc < 0 ? rc : 0;
	for (int64_t step = 1; step < x && !rc; step *= 2)
		rc = try_value(p, axis, x + step, err);
	return rc < 0 ? rc : 0;
}

static int vary_threads(struct probing *p, struct assay_err *err)
{
	int rc = 0;

	for (unsigned t = 2; t <= 3 && rc >= 0 && p->n < MAX_PROBES; t++) {
		p->v[p->n] = p->v[0];
		p->v[p->n].varied = p->op->n_axes;
		p->v[p->n].n_threads = t;
		rc = try_probe(p, err);
	}
	return rc < 0 ? rc : 0;
}

/* ---- formulas ---- */

/* Value of a factor in a probe: of an axis, or with @i beyond them the number of threads. */
static int64_t factor(const struct probing *p, const struct probe *x, size_t i)
{
	return i < p->op->n_axes ? x->axes[i] : (int64_t)x->n_threads;
}

/* -1: this probe has no such dimension. */
static int64_t dim_of(const struct probe *x, uint32_t tensor, uint32_t dim)
{
	return tensor < x->facts.n_tensors && dim < x->facts.tensors[tensor].rank ? x->facts.tensors[tensor].dims[dim]
										  : -1;
}

/* Does the dimension grow in proportion to factor @i, as far as the first probe that varies it shows? */
static bool grows_with(const struct probing *p, size_t i, uint32_t tensor, uint32_t dim)
{
	for (size_t k = 1; k < p->n; k++)
		if (p->v[k].varied == i && (i == p->op->n_axes || !p->op->axes[i].symbols.n))
			return dim_of(&p->v[k], tensor, dim) != dim_of(&p->v[0], tensor, dim);
	return false;
}

static __int128 product(const struct probing *p, const struct probe *x, const bool *factors)
{
	__int128 all = 1;

	for (size_t i = 0; i <= p->op->n_axes; i++)
		if (factors[i])
			all *= factor(p, x, i);
	return all;
}

static void write_formula(const struct probing *p, const bool *factors, int64_t num, int64_t den, char *buf)
{
	struct assay_text t = { 0 };
	const char *times = "";

	if (num != 1) {
		assay_text_addf(&t, "%lld", (long long)num);
		times = "*";
	}
	for (size_t i = 0; i <= p->op->n_axes; i++)
		if (factors[i]) {
			assay_text_addf(&t, "%s%s", times, i < p->op->n_axes ? p->op->axes[i].name : "threads");
			times = "*";
		}
	if (!times[0])
		assay_text_add(&t, "1");
	if (den != 1)
		assay_text_addf(&t, "/%lld", (long long)den);
	if (!t.failed && t.len < ASSAY_FORMULA_MAX)
		memcpy(buf, t.s, t.len + 1);
	assay_text_release(&t);
}

static void find_formula(const struct probing *p, uint32_t tensor, uint32_t dim, char *buf)
{
	bool factors[ASSAY_MAX_AXES + 1];
	int64_t first = dim_of(&p->v[0], tensor, dim);
	__int128 a, b, num, den;

	for (size_t i = 0; i <= p->op->n_axes; i++)
		factors[i] = grows_with(p, i, tensor, dim);
	num = first;
	den = product(p, &p->v[0], factors);
	if (num <= 0 || den <= 0)
		return;
	for (a = num, b = den; b;) {
		__int128 rest = a % b;

		a = b;
		b = rest;
	}
	num /= a;
	den /= a;
	for (size_t k = 0; k < p->n; k++)
		if (dim_of(&p->v[k], tensor, dim) * den != num * product(p, &p->v[k], factors))
			return;
	write_formula(p, factors, (int64_t)num, (int64_t)den, buf);
}

int assay_op_shape_find(struct assay_op_shape *out, const struct assay_catalog_op *op, const int64_t *from,
			assay_op_ask_fn ask, void *arg, struct assay_err *err)
{
	struct probing p = { .op = op, .ask = ask, .arg = arg, .v = calloc(MAX_PROBES, sizeof(*p.v)) };
	int rc;

	*out = (struct assay_op_shape){ 0 };
	if (!p.v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = first_probe(&p, from, err);
	for (size_t i = 0; i < op->n_axes && !rc; i++)
		rc = op->axes[i].symbols.n ? vary_symbol(&p, i, err) : vary_number(&p, i, err);
	if (!rc)
		rc = vary_threads(&p, err);
	if (!rc) {
		memcpy(out->axes, p.v[0].axes, sizeof(out->axes));
		out->facts = p.v[0].facts;
		for (uint32_t t = 0; t < out->facts.n_tensors; t++)
			for (uint32_t d = 0; d < out->facts.tensors[t].rank; d++)
				find_formula(&p, t, d, out->formula[t][d]);
	}
	free(p.v);
	return rc;
}

void assay_op_shape_text(const struct assay_catalog_op *op, const int64_t *axes, struct assay_text *out)
{
	size_t n = assay_catalog_named_axes(op);

	if (n < op->n_axes && axes[n])
		n++;
	for (size_t i = 0; i < n; i++) {
		const struct assay_catalog_axis *a = &op->axes[i];

		assay_text_addf(out, "%s%s=", i ? "," : "", a->name);
		if (axes[i] >= 0 && (size_t)axes[i] < a->symbols.n)
			assay_text_add(out, a->symbols.v[axes[i]]);
		else
			assay_text_addf(out, "%lld", (long long)axes[i]);
	}
}
