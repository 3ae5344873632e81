/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader. The file is checked first (plugin/file.c), then loaded; tables are copied element by element with the
 * stride of the plugin, so that a newer minor version with longer structures still fits.
 */
#include "worker/plugin/loader.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/case.h"

bool assay_plugin_name_ok(const char *s, const char *extra)
{
	size_t n = 0;

	if (!s)
		return false;
	for (; n < ASSAY_NAME_MAX && s[n]; n++)
		if (!((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= '0' && s[n] <= '9') || s[n] == '_' ||
		      strchr(extra, s[n])))
			return false;
	return n > 0 && n < ASSAY_NAME_MAX;
}

/*
 * Copy @n elements of @stride bytes into elements of @size bytes; missing ends are zero. NULL when out of memory or n
 * is 0.
 */
static void *copy_table(const void *from, uint32_t n, uint32_t stride, size_t size)
{
	char *to = n ? calloc(n, size) : NULL;

	for (uint32_t i = 0; to && i < n; i++)
		memcpy(to + i * size, (const char *)from + (size_t)i * stride, stride < size ? stride : size);
	return to;
}

const struct assay_axis *assay_op_axis(const struct assay_op *op, uint32_t i)
{
	return (const void *)((const char *)op->axes + (size_t)i * op->axis_stride);
}

const struct assay_metric_def *assay_op_metric(const struct assay_op *op, uint32_t i)
{
	return (const void *)((const char *)op->metrics + (size_t)i * op->metric_stride);
}

static int check_op(const struct assay_op *op, const char *path, struct assay_err *err)
{
	const char *name = op->name ? op->name : "(null)";

	if (!assay_plugin_name_ok(op->name, "."))
		return assay_err_set(err, ASSAY_EPLUGIN, "op name '%s' in '%s' is not made of a-z, 0-9, '_' and '.'",
				     name, path);
	if (!op->describe || !op->fill || !op->check)
		return assay_err_set(err, ASSAY_EPLUGIN, "op '%s' in '%s' has no %s function", name, path,
				     !op->describe ? "describe"
				     : !op->fill   ? "fill"
						   : "check");
	if (op->n_axes > ASSAY_MAX_AXES || (op->n_axes && (!op->axes || op->axis_stride < sizeof(struct assay_axis))))
		return assay_err_set(err, ASSAY_EPLUGIN, "op '%s' in '%s' has a bad axis table", name, path);
	for (uint32_t i = 0; i < op->n_axes; i++)
		if (!assay_plugin_name_ok(assay_op_axis(op, i)->name, ""))
			return assay_err_set(err, ASSAY_EPLUGIN, "axis %u of op '%s' in '%s' has a bad name", i, name,
					     path);
	if (op->n_metrics > ASSAY_MAX_METRICS ||
	    (op->n_metrics && (!op->metrics || op->metric_stride < sizeof(struct assay_metric_def))))
		return assay_err_set(err, ASSAY_EPLUGIN, "op '%s' in '%s' has a bad metric table", name, path);
	if (op->n_counters > ASSAY_MAX_COUNTERS || (op->n_counters && !op->counters))
		return assay_err_set(err, ASSAY_EPLUGIN, "op '%s' in '%s' has a bad counter table", name, path);
	if (op->measures > ASSAY_MEASURES_PEAK)
		return assay_err_set(err, ASSAY_EPLUGIN,
				     "op '%s' in '%s' measures %u, which this harness does not know", name, path,
				     op->measures);
	if (!op->composes != !op->driver || (op->driver && !op->driver->run))
		return assay_err_set(err, ASSAY_EPLUGIN, "op '%s' in '%s' composes another op but has no driver for it",
				     name, path);
	return 0;
}

static int check_variant(const struct assay_variant *v, const char *path, struct assay_err *err)
{
	const char *op = v->op ? v->op : "(null)", *name = v->name ? v->name : "(null)";

	if (!assay_plugin_name_ok(v->op, ".") || !assay_plugin_name_ok(v->name, ""))
		return assay_err_set(err, ASSAY_EPLUGIN, "variant '%s' of op '%s' in '%s' has a bad name", name, op,
				     path);
	if (!v->run)
		return assay_err_set(err, ASSAY_EPLUGIN, "variant '%s' of op '%s' in '%s' has no run function", name,
				     op, path);
	return 0;
}

static int check_device(const struct assay_device_ops *d, const char *path, struct assay_err *err)
{
	const char *name = d->name ? d->name : "(null)";

	if (!assay_plugin_name_ok(d->name, ""))
		return assay_err_set(err, ASSAY_EPLUGIN, "device name '%s' in '%s' is not made of a-z, 0-9 and '_'",
				     name, path);
	if (d->device_kind != ASSAY_DEVICE_CUDA && d->device_kind != ASSAY_DEVICE_OTHER)
		return assay_err_set(err, ASSAY_EPLUGIN,
				     "device '%s' in '%s' is of kind %u, which this harness does not know", name, path,
				     d->device_kind);
	if (!d->count || !d->open || !d->close || !d->alloc || !d->release || !d->upload || !d->download ||
	    !d->stream_open || !d->stream_close || !d->timer_start || !d->timer_stop || !d->timer_read_ns)
		return assay_err_set(err, ASSAY_EPLUGIN, "device '%s' in '%s' lacks a function that it must have", name,
				     path);
	return 0;
}

static const struct assay_variant *find_variant(const struct assay_loader *ld, const char *op, const char *name,
						size_t *plugin)
{
	for (size_t i = 0; i < ld->n_plugins; i++)
		for (uint32_t k = 0; k < ld->plugins[i].desc.n_variants; k++) {
			const struct assay_variant *v = &ld->plugins[i].variants[k];

			if (!strcmp(v->op, op) && !strcmp(v->name, name)) {
				if (plugin)
					*plugin = i;
				return v;
			}
		}
	return NULL;
}

static int check_names(const struct assay_loader *ld, const struct assay_loaded_plugin *p, struct assay_err *err)
{
	size_t other;

	for (uint32_t i = 0; i < p->desc.n_ops; i++)
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(p->ops[i].name, p->ops[k].name))
				return assay_err_set(err, ASSAY_EPLUGIN, "op '%s' is twice in '%s'", p->ops[i].name,
						     p->path);
	for (uint32_t i = 0; i < p->desc.n_variants; i++)
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(p->variants[i].op, p->variants[k].op) &&
			    !strcmp(p->variants[i].name, p->variants[k].name))
				return assay_err_set(err, ASSAY_EPLUGIN, "variant '%s' of op '%s' is twice in '%s'",
						     p->variants[i].name, p->variants[i].op, p->path);
	for (uint32_t i = 0; i < p->desc.n_ops; i++)
		if (assay_loader_op(ld, p->ops[i].name, &other))
			return assay_err_set(err, ASSAY_EPLUGIN, "op '%s' of '%s' is already in '%s'", p->ops[i].name,
					     p->path, ld->plugins[other].path);
	for (uint32_t i = 0; i < p->desc.n_variants; i++)
		if (find_variant(ld, p->variants[i].op, p->variants[i].name, &other))
			return assay_err_set(err, ASSAY_EPLUGIN, "variant '%s' of op '%s' of '%s' is already in '%s'",
					     p->variants[i].name, p->variants[i].op, p->path, ld->plugins[other].path);
	return 0;
}

/* Leave out what is there already. */
static void keep_rest(const struct assay_loader *ld, struct assay_loaded_plugin *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->desc.n_ops; i++)
		if (!assay_loader_op(ld, p->ops[i].name, NULL))
			p->ops[n++] = p->ops[i];
	p->desc.n_ops = n;
	n = 0;
	for (uint32_t i = 0; i < p->desc.n_variants; i++)
		if (!find_variant(ld, p->variants[i].op, p->variants[i].name, NULL))
			p->variants[n++] = p->variants[i];
	p->desc.n_variants = n;
}

static int take_tables(struct assay_loaded_plugin *p, struct assay_err *err)
{
	const struct assay_plugin *d = &p->desc;
	int rc;

	if (d->size < sizeof(*d) || (d->n_ops && (!d->ops || d->op_stride < sizeof(*p->ops))) ||
	    (d->n_variants && (!d->variants || d->variant_stride < sizeof(*p->variants))) ||
	    (d->n_devices && (!d->devices || d->device_stride < sizeof(*p->devices))))
		return assay_err_set(err, ASSAY_EPLUGIN, "the tables of '%s' do not fit ABI %u.%u", p->path,
				     ASSAY_ABI_MAJOR, ASSAY_ABI_MINOR);
	if (d->n_ops > ASSAY_MAX_OPS || d->n_variants > ASSAY_MAX_VARIANTS || d->n_devices > ASSAY_MAX_DEVICES)
		return assay_err_set(err, ASSAY_EPLUGIN,
				     "'%s' offers %u ops, %u variants and %u devices, at most %d, %d and %d are taken",
				     p->path, d->n_ops, d->n_variants, d->n_devices, ASSAY_MAX_OPS, ASSAY_MAX_VARIANTS,
				     ASSAY_MAX_DEVICES);
	if (!assay_plugin_name_ok(d->name, "-"))
		return assay_err_set(err, ASSAY_EPLUGIN, "plugin name in '%s' is not made of a-z, 0-9, '_' and '-'",
				     p->path);
	if (!d->n_ops && !d->n_variants && !d->n_devices)
		return assay_err_set(err, ASSAY_EPLUGIN, "'%s' offers no op, variant or device", p->path);
	p->ops = copy_table(d->ops, d->n_ops, d->op_stride, sizeof(*p->ops));
	p->variants = copy_table(d->variants, d->n_variants, d->variant_stride, sizeof(*p->variants));
	p->devices = copy_table(d->devices, d->n_devices, d->device_stride, sizeof(*p->devices));
	if ((d->n_ops && !p->ops) || (d->n_variants && !p->variants) || (d->n_devices && !p->devices))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory while loading '%s'", p->path);
	for (uint32_t i = 0; i < d->n_ops; i++) {
		rc = check_op(&p->ops[i], p->path, err);
		if (rc)
			return rc;
	}
	for (uint32_t i = 0; i < d->n_variants; i++) {
		rc = check_variant(&p->variants[i], p->path, err);
		if (rc)
			return rc;
	}
	for (uint32_t i = 0; i < d->n_devices; i++) {
		rc = check_device(&p->devices[i], p->path, err);
		if (rc)
			return rc;
	}
	return 0;
}

static void plugin_release(struct assay_loaded_plugin *p)
{
	free(p->ops);
	free(p->variants);
	free(p->devices);
	if (p->dl)
		dlclose(p->dl);
	free(p->path);
}

int assay_loader_add(struct assay_loader *ld, const char *path, enum assay_plugin_part part, struct assay_err *err)
{
	struct assay_loaded_plugin p = { 0 }, *grown;
	char full[PATH_MAX];
	const void *sym;
	int rc;

	/* dlopen searches the library path for names without a slash; a plugin is always a file */
	if (!realpath(path, full))
		return assay_err_set(err, ASSAY_EPLUGIN, "cannot find plugin '%s'", path);
	rc = assay_plugin_file_read(full, &p.file, err);
	if (rc)
		return rc;
	p.path = strdup(path);
	if (!p.path)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory while loading '%s'", path);
	p.dl = dlopen(full, RTLD_NOW | RTLD_LOCAL);
	if (!p.dl) {
		rc = assay_err_set(err, ASSAY_EPLUGIN, "cannot load '%s': %s", path, dlerror());
		goto out;
	}
	sym = dlsym(p.dl, ASSAY_PLUGIN_SYMBOL);
	if (!sym) {
		rc = assay_err_set(err, ASSAY_EPLUGIN, "no symbol '%s' in '%s'", ASSAY_PLUGIN_SYMBOL, path);
		goto out;
	}
	memcpy(&p.desc, sym, offsetof(struct assay_plugin, reserved));
	memcpy(&p.desc, sym, p.desc.size < sizeof(p.desc) ? p.desc.size : sizeof(p.desc));
	rc = take_tables(&p, err);
	if (part == ASSAY_PART_OPS)
		p.desc.n_variants = 0;
	if (part == ASSAY_PART_VARIANTS)
		p.desc.n_ops = 0;
	if (part == ASSAY_PART_REST && !rc)
		keep_rest(ld, &p);
	if (!rc)
		rc = check_names(ld, &p, err);
	if (rc)
		goto out;
	grown = realloc(ld->plugins, (ld->n_plugins + 1) * sizeof(*grown));
	if (!grown) {
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory while loading '%s'", path);
		goto out;
	}
	ld->plugins = grown;
	ld->plugins[ld->n_plugins++] = p; /* the loader owns it now */
	return 0;
out:
	plugin_release(&p);
	return rc;
}

void assay_loader_release(struct assay_loader *ld)
{
	for (size_t i = 0; i < ld->n_plugins; i++)
		plugin_release(&ld->plugins[i]);
	free(ld->plugins);
	*ld = (struct assay_loader){ 0 };
}

const struct assay_op *assay_loader_op(const struct assay_loader *ld, const char *name, size_t *plugin)
{
	for (size_t i = 0; i < ld->n_plugins; i++)
		for (uint32_t k = 0; k < ld->plugins[i].desc.n_ops; k++)
			if (!strcmp(ld->plugins[i].ops[k].name, name)) {
				if (plugin)
					*plugin = i;
				return &ld->plugins[i].ops[k];
			}
	return NULL;
}

const struct assay_variant *assay_loader_case_variant(const struct assay_loader *ld, const struct assay_op *op,
						      const char *name, size_t *plugin)
{
	const struct assay_variant *v = find_variant(ld, op->name, name, plugin);

	if (!op->composes || (v && v->device_kind != ASSAY_DEVICE_CPU))
		return v;
	v = find_variant(ld, op->composes, name, plugin);
	return v && v->device_kind == ASSAY_DEVICE_CPU ? v : NULL;
}

const struct assay_device_ops *assay_loader_device(const struct assay_loader *ld, uint32_t kind)
{
	for (size_t i = 0; i < ld->n_plugins; i++)
		for (uint32_t k = 0; k < ld->plugins[i].desc.n_devices; k++)
			if (ld->plugins[i].devices[k].device_kind == kind)
				return &ld->plugins[i].devices[k];
	return NULL;
}
