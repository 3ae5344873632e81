/* SPDX-License-Identifier: Apache-2.0 */
/* From what the inventory's child says, in JSON, to the catalog. */
#include "worker/inventory/inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arch.h"
#include "machine/cpu_features.h"
#include "worker/case/memory.h"
#include "worker/plugin/loader.h"

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

static int no_memory(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory while reading the inventory");
}

static int nonsense(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_EWORKER, "described what cannot be in a plugin that loads");
}

static int set_defect(char **defect, const char *kind, const char *name, const char *why, struct assay_err *err)
{
	char text[400];

	snprintf(text, sizeof(text), "what %s '%s' declares is wrong: %s", kind, name, why);
	*defect = strdup(text);
	return *defect ? 0 : no_memory(err);
}

static int take_axes(struct assay_catalog_op *op, const json_t *axes, struct assay_err *err)
{
	bool oom = false;
	int rc = json_array_size(axes) > ASSAY_MAX_AXES ? nonsense(err) : 0;

	for (size_t i = 0; !rc && i < json_array_size(axes); i++) {
		const json_t *a = json_array_get(axes, i);
		struct assay_catalog_axis *axis = assay_catalog_grow((void **)&op->axes, &op->n_axes, sizeof(*axis));

		if (!axis)
			return no_memory(err);
		axis->name = copy_string(a, "name", &oom);
		axis->help = copy_string(a, "help", &oom);
		axis->min = json_integer_value(json_object_get(a, "min"));
		axis->max = json_integer_value(json_object_get(a, "max"));
		axis->def = json_integer_value(json_object_get(a, "def"));
		rc = fill_strings(&axis->symbols, json_object_get(a, "symbols"), err);
		if (!rc && !oom && !assay_plugin_name_ok(axis->name, ""))
			rc = nonsense(err);
	}
	return oom ? no_memory(err) : rc;
}

static int take_metrics(struct assay_catalog_op *op, const json_t *metrics, struct assay_err *err)
{
	bool oom = false;

	if (json_array_size(metrics) > ASSAY_MAX_METRICS)
		return nonsense(err);
	for (size_t i = 0; i < json_array_size(metrics); i++) {
		const json_t *m = json_array_get(metrics, i);
		struct assay_catalog_metric *metric =
			assay_catalog_grow((void **)&op->metrics, &op->n_metrics, sizeof(*metric));

		if (!metric)
			return no_memory(err);
		metric->tag = copy_string(m, "tag", &oom);
		metric->unit = copy_string(m, "unit", &oom);
		metric->help = copy_string(m, "help", &oom);
		metric->better = (int)json_integer_value(json_object_get(m, "better"));
		metric->kind = (enum assay_metric_kind)json_integer_value(json_object_get(m, "kind"));
		metric->lo = hex_number(m, "lo");
		metric->hi = hex_number(m, "hi");
	}
	return oom ? no_memory(err) : 0;
}

static int take_op(struct assay_catalog *cat, size_t plugin, const json_t *j, struct assay_err *err)
{
	struct assay_catalog_op *op = assay_catalog_grow((void **)&cat->ops, &cat->n_ops, sizeof(*op));
	char why[300];
	bool oom = !op;
	int rc;

	if (!op)
		return no_memory(err);
	op->name = copy_string(j, "name", &oom);
	op->help = copy_string(j, "help", &oom);
	op->composes = copy_string(j, "composes", &oom);
	op->exact = json_is_true(json_object_get(j, "exact"));
	op->work_axis = json_is_true(json_object_get(j, "work_axis"));
	op->model_axis = json_is_true(json_object_get(j, "model_axis"));
	op->plugin = plugin;
	rc = oom ? no_memory(err) : assay_plugin_name_ok(op->name, ".") ? 0 : nonsense(err);
	if (!rc)
		rc = take_axes(op, json_object_get(j, "axes"), err);
	if (!rc)
		rc = take_metrics(op, json_object_get(j, "metrics"), err);
	if (!rc)
		rc = fill_strings(&op->counters, json_object_get(j, "counters"), err);
	if (!rc && op->counters.n > ASSAY_MAX_COUNTERS)
		rc = nonsense(err);
	if (!rc && !assay_declared_op(op, why, sizeof(why)))
		rc = set_defect(&op->defect, "op", op->name, why, err);
	return rc;
}

static int take_variant(struct assay_catalog *cat, size_t plugin, const json_t *j, struct assay_err *err)
{
	struct assay_catalog_variant *v = assay_catalog_grow((void **)&cat->variants, &cat->n_variants, sizeof(*v));
	const json_t *device = json_object_get(j, "device");
	char why[300];
	bool oom = !v;

	if (!v)
		return no_memory(err);
	v->op = copy_string(j, "op", &oom);
	v->name = copy_string(j, "name", &oom);
	v->help = copy_string(j, "help", &oom);
	v->needs = copy_string(j, "needs", &oom);
	v->plugin = plugin;
	v->device_kind = (unsigned)json_integer_value(device);
	v->one_thread = json_is_true(json_object_get(j, "one_thread"));
	v->reference = json_is_true(json_object_get(j, "reference"));
	if (oom)
		return no_memory(err);
	if (!assay_plugin_name_ok(v->op, ".") || !assay_plugin_name_ok(v->name, "") || json_integer_value(device) < 0)
		return nonsense(err);
	if (!assay_declared_variant(v, why, sizeof(why)))
		return set_defect(&v->defect, "variant", v->name, why, err);
	return 0;
}

/* A number that is not negative; *ok turns false where it is. */
static uint64_t whole(const json_t *j, const char *key, bool *ok)
{
	const json_t *v = json_object_get(j, key);

	*ok = *ok && json_is_integer(v) && json_integer_value(v) >= 0;
	return *ok ? (uint64_t)json_integer_value(v) : 0;
}

static void take_words(char *to, size_t size, const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	snprintf(to, size, "%s", s ? s : "");
}

/* A device's description of itself; `size` 0: none that makes sense. */
static void take_info(struct assay_device_info *i, const json_t *j)
{
	bool ok = true;

	*i = (struct assay_device_info){
		.compute_units = (uint32_t)whole(j, "compute_units", &ok),
		.memory_bytes = whole(j, "memory_bytes", &ok),
		.l2_bytes = whole(j, "l2_bytes", &ok),
		.core_hz_max = whole(j, "core_hz_max", &ok),
		.memory_hz_max = whole(j, "memory_hz_max", &ok),
		.memory_bits = (uint32_t)whole(j, "memory_bits", &ok),
		.ecc = (uint32_t)whole(j, "ecc", &ok),
		.mig = (uint32_t)whole(j, "mig", &ok),
		.pcie_generation = (uint32_t)whole(j, "pcie_generation", &ok),
		.pcie_lanes = (uint32_t)whole(j, "pcie_lanes", &ok),
	};
	take_words(i->name, sizeof(i->name), j, "name");
	take_words(i->uuid, sizeof(i->uuid), j, "uuid");
	take_words(i->pci, sizeof(i->pci), j, "pci");
	take_words(i->arch, sizeof(i->arch), j, "arch");
	take_words(i->driver, sizeof(i->driver), j, "driver");
	take_words(i->runtime, sizeof(i->runtime), j, "runtime");
	i->size = ok ? sizeof(*i) : 0;
}

static int take_device(struct assay_catalog *cat, size_t plugin, const json_t *j, struct assay_err *err)
{
	struct assay_catalog_device *d = assay_catalog_grow((void **)&cat->devices, &cat->n_devices, sizeof(*d));
	const json_t *infos = json_object_get(j, "infos");
	const json_int_t kind = json_integer_value(json_object_get(j, "kind"));
	const json_int_t count = json_integer_value(json_object_get(j, "count"));
	bool oom = !d;

	if (!d)
		return no_memory(err);
	d->name = copy_string(j, "name", &oom);
	d->reason = copy_string(j, "reason", &oom);
	d->plugin = plugin;
	d->kind = kind > 0 && kind <= ASSAY_DEVICE_OTHER ? (unsigned)kind : 0;
	d->count = count < 0 ? 0 : count < ASSAY_MAX_DEVICES ? (int)count : ASSAY_MAX_DEVICES;
	d->infos = calloc((size_t)d->count + 1, sizeof(*d->infos));
	if (oom || !d->infos)
		return no_memory(err);
	if (!assay_plugin_name_ok(d->name, "") || !d->kind)
		return nonsense(err);
	for (; d->n_infos < (size_t)d->count; d->n_infos++)
		take_info(&d->infos[d->n_infos], json_array_get(infos, d->n_infos));
	return 0;
}

int assay_catalog_take_plugin(struct assay_catalog *cat, size_t i, const json_t *j, struct assay_err *err)
{
	const json_t *devices = json_object_get(j, "devices");
	const json_t *ops = json_object_get(j, "ops"), *variants = json_object_get(j, "variants");
	struct assay_catalog_plugin *p = &cat->plugins[i];
	bool oom = false;
	int rc = 0;

	free(p->error);
	p->error = copy_string(j, "error", &oom);
	p->error_code = (int)json_integer_value(json_object_get(j, "code"));
	p->name = copy_string(j, "name", &oom);
	p->version = copy_string(j, "version", &oom);
	p->abi_major = (unsigned)json_integer_value(json_object_get(j, "abi_major"));
	p->abi_minor = (unsigned)json_integer_value(json_object_get(j, "abi_minor"));
	if (json_is_string(json_object_get(j, "build_id")))
		snprintf(p->build_id, sizeof(p->build_id), "%s", json_string_value(json_object_get(j, "build_id")));
	if (oom)
		return no_memory(err);
	if (!p->error && !p->name)
		return nonsense(err);
	for (size_t k = 0; !rc && !p->error && k < json_array_size(ops); k++)
		rc = take_op(cat, i, json_array_get(ops, k), err);
	for (size_t k = 0; !rc && !p->error && k < json_array_size(variants); k++)
		rc = take_variant(cat, i, json_array_get(variants, k), err);
	for (size_t k = 0; !rc && !p->error && k < json_array_size(devices); k++)
		rc = take_device(cat, i, json_array_get(devices, k), err);
	return rc;
}

static double amount(const json_t *j, const char *key, bool *ok)
{
	double v = json_number_value(json_object_get(j, key));

	*ok = *ok && v >= 0;
	return v;
}

/* The defect that the child found, or that it should have found. */
static int take_fault(const json_t *j, bool ok, struct assay_err *err)
{
	const char *broken = json_string_value(json_object_get(j, "broken"));

	if (!broken && ok)
		return 0;
	return assay_err_set(err, ASSAY_EPLUGIN, "%s", broken ? broken : "describes what there cannot be");
}

int assay_catalog_take_facts(const json_t *j, struct assay_case_facts *f, struct assay_err *err)
{
	const char *reason = json_string_value(json_object_get(j, "reason"));
	const char *item = json_string_value(json_object_get(j, "item_name"));
	bool ok = true;

	*f = (struct assay_case_facts){
		.supported = json_is_true(json_object_get(j, "supported")),
		.timed = json_is_true(json_object_get(j, "timed")),
		.measures = (uint32_t)whole(j, "measures", &ok),
		.cost = {
			.ops = amount(j, "ops", &ok),
			.bytes_read = amount(j, "bytes_read", &ok),
			.bytes_written = amount(j, "bytes_written", &ok),
			.items = amount(j, "items", &ok),
			.arith = (uint32_t)whole(j, "arith", &ok),
		},
		.tensor_bytes = whole(j, "tensor_bytes", &ok),
		.bytes = whole(j, "bytes", &ok),
		.copies = whole(j, "copies", &ok),
		.rotated_bytes = amount(j, "rotated_bytes", &ok),
	};
	snprintf(f->reason, sizeof(f->reason), "%s", reason ? reason : "");
	snprintf(f->item_name, sizeof(f->item_name), "%s", item ? item : "");
	return take_fault(
		j, ok && f->measures <= ASSAY_MEASURES_PEAK && f->cost.arith <= ASSAY_ARITH_TERNARY && f->copies, err);
}

/* The driver of a composite op is its only variant of its own on the CPU. */
static int refuse_own_variants(struct assay_catalog *cat, struct assay_err *err)
{
	int rc = 0;

	for (size_t k = 0; k < cat->n_variants && !rc; k++) {
		struct assay_catalog_variant *v = &cat->variants[k];
		const struct assay_catalog_op *op = assay_catalog_op(cat, v->op);
		char why[3 * ASSAY_NAME_MAX];

		if (!op || !op->composes || v->device_kind != ASSAY_DEVICE_CPU || v->defect)
			continue;
		snprintf(why, sizeof(why), "on the CPU %s runs the variants of %s", op->name, op->composes);
		rc = set_defect(&v->defect, "variant", v->name, why, err);
	}
	return rc;
}

int assay_catalog_expand_composites(struct assay_catalog *cat, struct assay_err *err)
{
	size_t n = cat->n_variants;
	int rc = refuse_own_variants(cat, err);

	for (size_t i = 0; i < cat->n_ops && !rc; i++)
		for (size_t k = 0; cat->ops[i].composes && k < n; k++) {
			struct assay_catalog_variant *v, *from = &cat->variants[k];

			/* A variant on a device has its buffers there, and its driver has others in host memory. */
			if (strcmp(from->op, cat->ops[i].composes) || from->device_kind != ASSAY_DEVICE_CPU)
				continue;
			v = assay_catalog_grow((void **)&cat->variants, &cat->n_variants, sizeof(*v));
			if (!v)
				return no_memory(err);
			from = &cat->variants[k]; /* the array has moved */
			*v = *from;
			v->op = strdup(cat->ops[i].name);
			v->name = strdup(from->name);
			v->help = from->help ? strdup(from->help) : NULL;
			v->needs = from->needs ? strdup(from->needs) : NULL;
			v->unavailable = NULL;
			v->defect = from->defect ? strdup(from->defect) : NULL;
			if (!v->op || !v->name || (from->help && !v->help) || (from->needs && !v->needs) ||
			    (from->defect && !v->defect))
				return no_memory(err);
		}
	return rc;
}

static void lacks_device(const struct assay_catalog *cat, unsigned kind, char *why, size_t size)
{
	const struct assay_catalog_device *d = assay_catalog_device(cat, kind);

	if (!d)
		snprintf(why, size, "no plugin provides the device it runs on");
	else if (d->count <= 0)
		snprintf(why, size, "no %s device: %s", d->name, d->reason && d->reason[0] ? d->reason : "none found");
}

int assay_catalog_mark_unavailable(struct assay_catalog *cat, struct assay_err *err)
{
	struct assay_cpu_features cpu;

	assay_cpu_features_load(&cpu, NULL);
	for (size_t i = 0; i < cat->n_variants; i++) {
		struct assay_catalog_variant *v = &cat->variants[i];
		char why[256] = "", missing[ASSAY_NAME_MAX];

		v->other_arch = assay_isa_arch(v->needs);
		if (v->other_arch && !strcmp(v->other_arch, assay_arch()))
			v->other_arch = NULL;
		if (v->other_arch)
			snprintf(why, sizeof(why), "built for %s, this is %s", v->other_arch, assay_arch());
		else if (!assay_cpu_features_has_all(&cpu, v->needs, missing, sizeof(missing)))
			snprintf(why, sizeof(why), "this CPU has no %s", missing);
		if (v->device_kind != ASSAY_DEVICE_CPU && !why[0])
			lacks_device(cat, v->device_kind, why, sizeof(why));
		v->unavailable = why[0] ? strdup(why) : NULL;
		if (why[0] && !v->unavailable)
			return no_memory(err);
	}
	return 0;
}
