/* SPDX-License-Identifier: Apache-2.0 */
/* Binds axes: every shape is crossed with every value of every sweep, and what stays unnamed takes the axis's default.
 */
#include "plan/expand.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A typing error in a sweep must not ask for the whole memory. */
#define MAX_SHAPES 100000

struct partial {
	int64_t value[ASSAY_MAX_AXES];
	bool bound[ASSAY_MAX_AXES];
};

struct partials {
	struct partial *v;
	size_t n;
};

/* Where a text stands, for messages. */
struct place {
	const char *path;
	unsigned line;
	struct assay_err *err;
};

static int find_axis(const struct assay_catalog_op *op, const char *name, const struct place *at, size_t *out)
{
	const char *names[ASSAY_MAX_AXES];
	char hint[256];

	for (size_t i = 0; i < op->n_axes; i++) {
		names[i] = op->axes[i].name;
		if (!strcmp(names[i], name)) {
			*out = i;
			return 0;
		}
	}
	return assay_conf_fail(at->err, at->path, at->line, "op '%s' has no axis '%s'%s", op->name, name,
			       assay_conf_hint(name, names, op->n_axes, hint, sizeof(hint)));
}

static int parse_value(const struct assay_catalog_axis *axis, const char *text, const struct place *at, int64_t *out)
{
	char hint[256];
	char *end;
	long long v;

	if (axis->symbols.n) {
		/* symbols have no '/': of a file its name is one */
		text = strrchr(text, '/') ? strrchr(text, '/') + 1 : text;
		for (size_t i = 0; i < axis->symbols.n; i++) {
			if (!strcmp(axis->symbols.v[i], text)) {
				*out = (int64_t)i;
				return 0;
			}
		}
		return assay_conf_fail(at->err, at->path, at->line, "axis '%s' does not take '%s'%s", axis->name, text,
				       assay_conf_hint(text, (const char *const *)axis->symbols.v, axis->symbols.n,
						       hint, sizeof(hint)));
	}
	errno = 0;
	v = strtoll(text, &end, 10);
	if (!text[0] || *end || strspn(text, "-0123456789") != strlen(text) || errno)
		return assay_conf_fail(at->err, at->path, at->line, "axis '%s' is '%s', expected a whole number",
				       axis->name, text);
	if (v < axis->min || v > axis->max)
		return assay_conf_fail(at->err, at->path, at->line,
				       "axis '%s' is %lld, expected %" PRId64 " to %" PRId64, axis->name, v, axis->min,
				       axis->max);
	*out = v;
	return 0;
}

/* "m=2560,k=2560" into @p. */
static int parse_shape(const struct assay_catalog_op *op, const char *text, const struct place *at, struct partial *p)
{
	struct assay_strings parts = { 0 };
	int rc;

	memset(p, 0, sizeof(*p));
	rc = text[0] ? assay_strings_split(&parts, text, ',', at->err) : 0;
	for (size_t i = 0; !rc && i < parts.n; i++) {
		char *value = strchr(parts.v[i], '=');
		size_t axis;

		if (!value || value == parts.v[i] || !value[1]) {
			rc = assay_conf_fail(at->err, at->path, at->line,
					     "cannot read '%s' in shape '%s', expected axis=value", parts.v[i], text);
			break;
		}
		*value++ = '\0';
		rc = find_axis(op, parts.v[i], at, &axis);
		if (!rc && p->bound[axis])
			rc = assay_conf_fail(at->err, at->path, at->line, "axis '%s' is named twice in shape '%s'",
					     op->axes[axis].name, text);
		if (!rc)
			rc = parse_value(&op->axes[axis], value, at, &p->value[axis]);
		if (!rc)
			p->bound[axis] = true;
	}
	assay_strings_release(&parts);
	return rc;
}

static int read_shapes(const struct assay_bench *bench, const struct assay_catalog_op *op, struct partials *out,
		       struct assay_err *err)
{
	const struct assay_conf_entry *e = bench->field[ASSAY_BENCH_SHAPES];
	int rc = 0;

	out->n = e ? e->n : 1; /* without any: one shape that names nothing */
	out->v = calloc(out->n, sizeof(*out->v));
	if (!out->v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the shapes of bench '%s'", bench->name);
	for (size_t i = 0; !rc && e && i < e->n; i++) {
		struct place at = { e->path, e->values[i].line, err };

		rc = parse_shape(op, e->values[i].text, &at, &out->v[i]);
	}
	return rc;
}

/* Cross @p with the values of one sweep, "n=1,8"; an empty text is how a suite takes a sweep away. */
static int cross(struct partials *p, const struct assay_catalog_op *op, const char *text, const struct place *at)
{
	struct assay_strings values = { 0 };
	struct partial *v = NULL;
	char name[ASSAY_NAME_MAX];
	const char *eq = strchr(text, '=');
	size_t axis, n = 0;
	int rc;

	if (!text[0])
		return 0;
	if (!eq || eq == text || !eq[1] || (size_t)(eq - text) >= sizeof(name))
		return assay_conf_fail(at->err, at->path, at->line, "cannot read sweep '%s', expected axis=value,value",
				       text);
	snprintf(name, sizeof(name), "%.*s", (int)(eq - text), text);
	rc = find_axis(op, name, at, &axis);
	if (!rc)
		rc = assay_strings_split(&values, eq + 1, ',', at->err);
	if (!rc && p->n * values.n > MAX_SHAPES)
		rc = assay_conf_fail(at->err, at->path, at->line,
				     "sweep '%.40s%s' makes %zu shapes, at most %d are allowed", text,
				     strlen(text) > 40 ? "…" : "", p->n * values.n, MAX_SHAPES);
	if (!rc && !(v = calloc(p->n * values.n, sizeof(*v))))
		rc = assay_err_set(at->err, ASSAY_ENOMEM, "out of memory for sweep '%s'", text);
	for (size_t i = 0; !rc && i < p->n; i++) {
		if (p->v[i].bound[axis])
			rc = assay_conf_fail(at->err, at->path, at->line,
					     "axis '%s' is swept, but a shape or another sweep binds it too", name);
		for (size_t k = 0; !rc && k < values.n; k++, n++) {
			v[n] = p->v[i];
			v[n].bound[axis] = true;
			rc = parse_value(&op->axes[axis], values.v[k], at, &v[n].value[axis]);
		}
	}
	if (!rc) {
		free(p->v);
		p->v = v;
		p->n = n;
		v = NULL;
	}
	free(v);
	assay_strings_release(&values);
	return rc;
}

static int finish(const struct assay_bench *bench, const struct assay_catalog_op *op, int64_t batch_size,
		  const struct partial *p, struct assay_plan_shape *out, struct assay_err *err)
{
	for (size_t i = 0; i < op->n_axes; i++) {
		const struct assay_catalog_axis *axis = &op->axes[i];

		if (batch_size > 0 && !strcmp(axis->name, "batch")) {
			if (axis->symbols.n || batch_size < axis->min || batch_size > axis->max)
				return assay_err_set(err, ASSAY_EUSAGE,
						     "batch size %" PRId64 " does not fit op '%s', expected %" PRId64
						     " to %" PRId64,
						     batch_size, op->name, axis->min, axis->max);
			out->value[i] = batch_size;
		} else if (p->bound[i]) {
			out->value[i] = p->value[i];
		} else if (axis->def != INT64_MIN) {
			out->value[i] = axis->def;
		} else {
			return assay_conf_fail(err, bench->path, bench->line,
					       "bench '%s' does not name axis '%s' of op '%s' in shapes or sweep, and "
					       "it has no default",
					       bench->name, axis->name, op->name);
		}
	}
	return 0;
}

/* The models that were asked for, where neither shapes nor a sweep name one. */
static int cross_models(const struct assay_bench *bench, const struct assay_catalog_op *op, struct partials *p,
			struct assay_err *err)
{
	struct place at = { bench->path, bench->line, err };
	struct assay_text all = { 0 };
	bool bound = !op->model_axis || !op->n_models;
	int rc = 0;

	for (size_t i = 0; i < p->n; i++)
		bound |= p->v[i].bound[0];
	for (size_t i = 1; i <= op->n_models; i++)
		assay_text_addf(&all, "%s%s", i > 1 ? "," : "model=", op->axes[0].symbols.v[i]);
	if (!bound)
		rc = all.failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory for models")
				: cross(p, op, all.s, &at);
	assay_text_release(&all);
	return rc;
}

int assay_plan_shapes(const struct assay_bench *bench, const struct assay_catalog_op *op, int64_t batch_size,
		      struct assay_plan_shape **out, size_t *n, struct assay_err *err)
{
	const struct assay_conf_entry *sweep = bench->field[ASSAY_BENCH_SWEEP];
	struct assay_plan_shape *v = NULL;
	struct partials p = { 0 };
	int rc;

	rc = read_shapes(bench, op, &p, err);
	for (size_t i = 0; !rc && sweep && i < sweep->n; i++) {
		struct place at = { sweep->path, sweep->values[i].line, err };

		rc = cross(&p, op, sweep->values[i].text, &at);
	}
	if (!rc)
		rc = cross_models(bench, op, &p, err);
	if (!rc && !(v = calloc(p.n, sizeof(*v))))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for the shapes of bench '%s'", bench->name);
	for (size_t i = 0; !rc && i < p.n; i++)
		rc = finish(bench, op, batch_size, &p.v[i], &v[i], err);
	if (!rc) {
		*out = v;
		*n = p.n;
		v = NULL;
	}
	free(v);
	free(p.v);
	return rc;
}

void assay_plan_axis_value(const struct assay_catalog_axis *axis, int64_t value, struct assay_axis_value *out)
{
	snprintf(out->name, sizeof(out->name), "%s", axis->name);
	out->value = value;
	if (value >= 0 && (uint64_t)value < axis->symbols.n)
		snprintf(out->text, sizeof(out->text), "%s", axis->symbols.v[value]);
	else
		snprintf(out->text, sizeof(out->text), "%" PRId64, value);
}
