/* SPDX-License-Identifier: Apache-2.0 */
/* From what the inventory's child says, in JSON, to the catalog. */
#include "worker/inventory_catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arch.h"
#include "machine/cpu_features.h"
#include "machine/isa.h"

static char *copy_string(const json_t *obj, const char *key, bool *oom)
{
	const char *s = json_string_value(json_object_get(obj, key));
	char *c = s ? strdup(s) : NULL;

	*oom |= s && !c;
	return c;
}

static double hex_number(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? strtod(s, NULL) : 0;
}

static int fill_strings(struct assay_strings *l, const json_t *array, struct assay_err *err)
{
	size_t i;
	json_t *s;

	json_array_foreach((json_t *)array, i, s)
	{
		int rc = assay_strings_add(l, json_string_value(s) ? json_string_value(s) : "", err);

		if (rc)
			return rc;
	}
	return 0;
}

void *assay_catalog_grow(void **array, size_t *n, size_t size)
{
	char *grown = realloc(*array, (*n + 1) * size);

	if (!grown)
		return NULL;
	*array = grown;
	memset(grown + *n * size, 0, size);
	return grown + (*n)++ * size;
}

static int take_op(struct assay_catalog *cat, size_t plugin, const json_t *j, struct assay_err *err)
{
	struct assay_catalog_op *op = assay_catalog_grow((void **)&cat->ops, &cat->n_ops, sizeof(*op));
	const json_t *axes = json_object_get(j, "axes"), *metrics = json_object_get(j, "metrics");
	bool oom = !op;
	int rc = 0;

	for (size_t i = 0; !oom && !rc && i < json_array_size(axes); i++) {
		const json_t *a = json_array_get(axes, i);
		struct assay_catalog_axis *axis = assay_catalog_grow((void **)&op->axes, &op->n_axes, sizeof(*axis));

		if (!axis)
			goto oom;
		axis->name = copy_string(a, "name", &oom);
		axis->help = copy_string(a, "help", &oom);
		axis->min = json_integer_value(json_object_get(a, "min"));
		axis->max = json_integer_value(json_object_get(a, "max"));
		axis->def = json_integer_value(json_object_get(a, "def"));
		rc = fill_strings(&axis->symbols, json_object_get(a, "symbols"), err);
	}
	for (size_t i = 0; !oom && !rc && i < json_array_size(metrics); i++) {
		const json_t *m = json_array_get(metrics, i);
		struct assay_catalog_metric *metric =
			assay_catalog_grow((void **)&op->metrics, &op->n_metrics, sizeof(*metric));

		if (!metric)
			goto oom;
		metric->tag = copy_string(m, "tag", &oom);
		metric->unit = copy_string(m, "unit", &oom);
		metric->help = copy_string(m, "help", &oom);
		metric->better = (int)json_integer_value(json_object_get(m, "better"));
		metric->lo = hex_number(m, "lo");
		metric->hi = hex_number(m, "hi");
	}
	if (oom)
		goto oom;
	op->name = copy_string(j, "name", &oom);
	op->help = copy_string(j, "help", &oom);
	op->composes = copy_string(j, "composes", &oom);
	op->exact = json_is_true(json_object_get(j, "exact"));
	op->plugin = plugin;
	if (!rc)
		rc = fill_strings(&op->counters, json_object_get(j, "counters"), err);
	if (!oom)
		return rc;
oom:
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory while reading the inventory");
}

static int take_variant(struct assay_catalog *cat, size_t plugin, const json_t *j, struct assay_err *err)
{
	struct assay_catalog_variant *v = assay_catalog_grow((void **)&cat->variants, &cat->n_variants, sizeof(*v));
	bool oom = !v;

	if (v) {
		v->op = copy_string(j, "op", &oom);
		v->name = copy_string(j, "name", &oom);
		v->help = copy_string(j, "help", &oom);
		v->needs = copy_string(j, "needs", &oom);
		v->plugin = plugin;
		v->device_kind = (unsigned)json_integer_value(json_object_get(j, "device"));
		v->one_thread = json_is_true(json_object_get(j, "one_thread"));
		v->reference = json_is_true(json_object_get(j, "reference"));
	}
	return oom ? assay_err_set(err, ASSAY_ENOMEM, "out of memory while reading the inventory") : 0;
}

int assay_catalog_take_plugin(struct assay_catalog *cat, size_t i, const json_t *j, struct assay_err *err)
{
	const json_t *ops = json_object_get(j, "ops"), *variants = json_object_get(j, "variants");
	struct assay_catalog_plugin *p = &cat->plugins[i];
	bool oom = false;
	int rc = 0;

	p->error = copy_string(j, "error", &oom);
	p->error_code = (int)json_integer_value(json_object_get(j, "code"));
	p->name = copy_string(j, "name", &oom);
	p->version = copy_string(j, "version", &oom);
	p->abi_major = (unsigned)json_integer_value(json_object_get(j, "abi_major"));
	p->abi_minor = (unsigned)json_integer_value(json_object_get(j, "abi_minor"));
	if (json_is_string(json_object_get(j, "build_id")))
		snprintf(p->build_id, sizeof(p->build_id), "%s", json_string_value(json_object_get(j, "build_id")));
	for (size_t k = 0; !rc && k < json_array_size(ops); k++)
		rc = take_op(cat, i, json_array_get(ops, k), err);
	for (size_t k = 0; !rc && k < json_array_size(variants); k++)
		rc = take_variant(cat, i, json_array_get(variants, k), err);
	return oom ? assay_err_set(err, ASSAY_ENOMEM, "out of memory while reading the inventory") : rc;
}

int assay_catalog_expand_composites(struct assay_catalog *cat, struct assay_err *err)
{
	size_t n = cat->n_variants;

	for (size_t i = 0; i < cat->n_ops; i++)
		for (size_t k = 0; cat->ops[i].composes && k < n; k++) {
			struct assay_catalog_variant *v, *from = &cat->variants[k];

			if (strcmp(from->op, cat->ops[i].composes))
				continue;
			v = assay_catalog_grow((void **)&cat->variants, &cat->n_variants, sizeof(*v));
			if (!v)
				return assay_err_set(err, ASSAY_ENOMEM, "out of memory while reading the inventory");
			from = &cat->variants[k]; /* the array has moved */
			*v = *from;
			v->op = strdup(cat->ops[i].name);
			v->name = strdup(from->name);
			v->help = from->help ? strdup(from->help) : NULL;
			v->needs = from->needs ? strdup(from->needs) : NULL;
			v->unavailable = NULL;
			if (!v->op || !v->name || (from->help && !v->help) || (from->needs && !v->needs))
				return assay_err_set(err, ASSAY_ENOMEM, "out of memory while reading the inventory");
		}
	return 0;
}

int assay_catalog_mark_unavailable(struct assay_catalog *cat, const json_t *devices, struct assay_err *err)
{
	for (size_t i = 0; i < cat->n_variants; i++) {
		struct assay_catalog_variant *v = &cat->variants[i];
		char why[256] = "", missing[ASSAY_NAME_MAX];

		v->other_arch = assay_isa_arch(v->needs);
		if (v->other_arch && !strcmp(v->other_arch, assay_arch()))
			v->other_arch = NULL;
		if (v->other_arch)
			snprintf(why, sizeof(why), "built for %s, this is %s", v->other_arch, assay_arch());
		else if (!assay_cpu_has_all(v->needs, missing, sizeof(missing)))
			snprintf(why, sizeof(why), "this CPU has no %s", missing);
		if (v->device_kind != ASSAY_DEVICE_CPU && !why[0]) {
			snprintf(why, sizeof(why), "no plugin brings the device it runs on");
			for (size_t k = 0; k < json_array_size(devices); k++) {
				const json_t *d = json_array_get(devices, k);
				const char *reason = json_string_value(json_object_get(d, "reason"));

				if ((unsigned)json_integer_value(json_object_get(d, "kind")) != v->device_kind)
					continue;
				if (json_integer_value(json_object_get(d, "count")) > 0)
					why[0] = '\0';
				else
					snprintf(why, sizeof(why), "no %s device: %s",
						 json_string_value(json_object_get(d, "name")),
						 reason ? reason : "none found");
			}
		}
		v->unavailable = why[0] ? strdup(why) : NULL;
		if (why[0] && !v->unavailable)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory while reading the inventory");
	}
	return 0;
}
