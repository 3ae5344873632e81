/* SPDX-License-Identifier: Apache-2.0 */
/* The rules are those of assay/plugin.h, and that a name or tag is taken once. */
#include "worker/inventory/inventory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/metric.h"
#include "model/result.h"
#include "worker/plugin/loader.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

/* Some of @letters, fewer than @size. */
static bool made_of(const char *s, const char *letters, size_t size)
{
	return s && s[0] && strlen(s) < size && !s[strspn(s, letters)];
}

static bool metric_ok(const struct assay_catalog_op *op, size_t i, char *why, size_t size)
{
	const struct assay_catalog_metric *m = &op->metrics[i];

	if (!assay_plugin_name_ok(m->tag, "") || strlen(m->tag) >= ASSAY_METRIC_TAG_MAX) {
		snprintf(why, size, "metric %zu has the tag '%.64s', expected up to %d of a-z, 0-9 and '_'", i,
			 m->tag ? m->tag : "", ASSAY_METRIC_TAG_MAX - 1);
		return false;
	}
	if (assay_metric_find(m->tag)) {
		snprintf(why, size, "metric '%s' is one of the harness's own", m->tag);
		return false;
	}
	for (size_t k = 0; k < i; k++)
		if (!strcmp(op->metrics[k].tag, m->tag)) {
			snprintf(why, size, "metric '%s' is declared twice", m->tag);
			return false;
		}
	if (!made_of(m->unit, LETTERS DIGITS "/%*^._-", ASSAY_METRIC_UNIT_MAX)) {
		snprintf(why, size, "metric '%s' has the unit '%.64s', expected one such as 's', 'B/s' or '1'", m->tag,
			 m->unit ? m->unit : "");
		return false;
	}
	if (m->better < -1 || m->better > 1) {
		snprintf(why, size, "metric '%s' has %d for what is better, expected -1, 0 or 1", m->tag, m->better);
		return false;
	}
	if (!(m->lo <= m->hi)) {
		snprintf(why, size, "metric '%s' has the range %g to %g, which holds no value", m->tag, m->lo, m->hi);
		return false;
	}
	if (m->kind != ASSAY_METRIC_GAUGE && m->kind != ASSAY_METRIC_HISTOGRAM) {
		snprintf(why, size, "metric '%s' has the kind %d, expected that of a gauge or a histogram", m->tag,
			 (int)m->kind);
		return false;
	}
	return m->kind == ASSAY_METRIC_GAUGE || assay_catalog_histogram_ok(op, i, why, size);
}

static bool counter_ok(const struct assay_catalog_op *op, size_t i, char *why, size_t size)
{
	const char *name = op->counters.v[i];

	if (!made_of(name, LETTERS DIGITS "_.", ASSAY_NAME_MAX)) {
		snprintf(why, size, "counter %zu has the name '%.64s', expected up to %d letters, digits, '_' and '.'",
			 i, name, ASSAY_NAME_MAX - 1);
		return false;
	}
	for (size_t k = 0; assay_own_count(k); k++)
		if (!strcmp(assay_own_count(k), name)) {
			snprintf(why, size, "counter '%s' is one of the harness's own", name);
			return false;
		}
	for (size_t k = 0; k < i; k++)
		if (!strcmp(op->counters.v[k], name)) {
			snprintf(why, size, "counter '%s' is declared twice", name);
			return false;
		}
	return true;
}

static bool symbols_ok(const struct assay_catalog_axis *a, char *why, size_t size)
{
	if (a->symbols.n > ASSAY_MAX_SYMBOLS) {
		snprintf(why, size, "axis '%s' has more than %d symbols", a->name, ASSAY_MAX_SYMBOLS);
		return false;
	}
	for (size_t i = 0; i < a->symbols.n; i++) {
		if (!made_of(a->symbols.v[i], LETTERS DIGITS "_.+-", ASSAY_NAME_MAX)) {
			snprintf(why, size, "symbol %zu of axis '%s' is '%.64s', expected letters, digits and '_.+-'",
				 i, a->name, a->symbols.v[i]);
			return false;
		}
		for (size_t k = 0; k < i; k++)
			if (!strcmp(a->symbols.v[k], a->symbols.v[i])) {
				snprintf(why, size, "axis '%s' has the symbol '%s' twice", a->name, a->symbols.v[i]);
				return false;
			}
	}
	return true;
}

static bool axis_ok(const struct assay_catalog_op *op, size_t i, char *why, size_t size)
{
	const struct assay_catalog_axis *a = &op->axes[i];
	int64_t least = a->symbols.n ? 0 : a->min, most = a->symbols.n ? (int64_t)a->symbols.n - 1 : a->max;

	for (size_t k = 0; k < i; k++)
		if (!strcmp(op->axes[k].name, a->name)) {
			snprintf(why, size, "axis '%s' is declared twice", a->name);
			return false;
		}
	if (!strcmp(a->name, ASSAY_DEVICE_AXIS)) {
		snprintf(why, size, "axis '%s' has the name of the one that keys have for devices", a->name);
		return false;
	}
	if (!strcmp(a->name, ASSAY_OWN_THREADS_AXIS)) {
		snprintf(why, size, "axis '%s' has the name of the one that keys have for benches that say so",
			 a->name);
		return false;
	}
	if (!symbols_ok(a, why, size))
		return false;
	if (least > most) {
		snprintf(why, size, "axis '%s' goes from %" PRId64 " to %" PRId64 ", which holds no value", a->name,
			 least, most);
		return false;
	}
	if (a->def != INT64_MIN && (a->def < least || a->def > most)) {
		snprintf(why, size, "axis '%s' has the default %" PRId64 ", expected %" PRId64 " to %" PRId64, a->name,
			 a->def, least, most);
		return false;
	}
	return true;
}

static bool work_axis_ok(const struct assay_catalog_op *op, char *why, size_t size)
{
	const struct assay_catalog_axis *last = op->n_axes ? &op->axes[op->n_axes - 1] : NULL;

	if (!op->work_axis || (last && last->def == 0))
		return true;
	snprintf(why, size, "keys do not name the default of its last axis, expected that to be 0");
	return false;
}

static bool model_axis_ok(const struct assay_catalog_op *op, char *why, size_t size)
{
	const struct assay_catalog_axis *first = op->n_axes ? &op->axes[0] : NULL;

	if (!op->model_axis || (first && first->def == 0 && !first->symbols.n && !strcmp(first->name, "model")))
		return true;
	snprintf(why, size, "its first axis is a model, expected a whole number 'model' with the default 0");
	return false;
}

bool assay_declared_op(struct assay_catalog_op *op, char *why, size_t size)
{
	bool ok = true;

	for (size_t i = 0; i < op->n_axes && ok; i++)
		ok = axis_ok(op, i, why, size);
	ok = ok && work_axis_ok(op, why, size) && model_axis_ok(op, why, size);
	if (!ok) {
		/* Any whole number, and where there are symbols the first, fits. */
		op->work_axis = op->model_axis = false;
		for (size_t i = 0; i < op->n_axes; i++) {
			struct assay_catalog_axis *a = &op->axes[i];

			a->min = INT64_MIN;
			a->max = INT64_MAX;
			if (a->symbols.n && (a->def < 0 || (size_t)a->def >= a->symbols.n))
				a->def = 0;
		}
	}
	for (size_t i = 0; i < op->n_metrics && ok; i++)
		ok = metric_ok(op, i, why, size);
	for (size_t i = 0; i < op->counters.n && ok; i++)
		ok = counter_ok(op, i, why, size);
	if (ok && op->composes && (!assay_plugin_name_ok(op->composes, ".") || !strcmp(op->composes, op->name))) {
		snprintf(why, size, "it composes '%.64s', expected the name of another op", op->composes);
		ok = false;
	}
	return ok;
}

bool assay_declared_variant(const struct assay_catalog_variant *v, char *why, size_t size)
{
	if (v->device_kind > ASSAY_DEVICE_OTHER) {
		snprintf(why, size, "it runs on a device of kind %u, which this harness does not know", v->device_kind);
		return false;
	}
	if (v->needs && v->needs[0] && v->needs[strspn(v->needs, LETTERS DIGITS "_., ")]) {
		snprintf(why, size, "it needs '%.64s', expected CPU features between commas", v->needs);
		return false;
	}
	return true;
}
