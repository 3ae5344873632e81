/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership of catalogs and look-up in them. */
#include "model/catalog.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/histogram.h"

static void release_op(struct assay_catalog_op *op)
{
	for (size_t i = 0; i < op->n_axes; i++) {
		free(op->axes[i].name);
		free(op->axes[i].help);
		assay_strings_release(&op->axes[i].symbols);
	}
	for (size_t i = 0; i < op->n_metrics; i++) {
		free(op->metrics[i].tag);
		free(op->metrics[i].unit);
		free(op->metrics[i].help);
	}
	free(op->axes);
	free(op->metrics);
	assay_strings_release(&op->counters);
	free(op->name);
	free(op->help);
	free(op->composes);
	if (op->program) {
		assay_strings_release(&op->program->words);
		assay_strings_release(&op->program->patterns);
		free(op->program->factors);
		free(op->program->reads);
	}
	free(op->program);
	free(op->defect);
}

void assay_catalog_release(struct assay_catalog *cat)
{
	for (size_t i = 0; i < cat->n_ops; i++)
		release_op(&cat->ops[i]);
	for (size_t i = 0; i < cat->n_variants; i++) {
		free(cat->variants[i].op);
		free(cat->variants[i].name);
		free(cat->variants[i].help);
		free(cat->variants[i].needs);
		free(cat->variants[i].unavailable);
		free(cat->variants[i].defect);
	}
	for (size_t i = 0; i < cat->n_plugins; i++) {
		free(cat->plugins[i].path);
		free(cat->plugins[i].name);
		free(cat->plugins[i].version);
		free(cat->plugins[i].error);
	}
	for (size_t i = 0; i < cat->n_devices; i++) {
		free(cat->devices[i].name);
		free(cat->devices[i].reason);
		free(cat->devices[i].infos);
	}
	free(cat->ops);
	free(cat->devices);
	free(cat->variants);
	free(cat->plugins);
	*cat = (struct assay_catalog){ 0 };
}

const struct assay_catalog_op *assay_catalog_op(const struct assay_catalog *cat, const char *name)
{
	for (size_t i = 0; i < cat->n_ops; i++)
		if (!strcmp(cat->ops[i].name, name))
			return &cat->ops[i];
	return NULL;
}

const struct assay_catalog_variant *assay_catalog_variant(const struct assay_catalog *cat, const char *op,
							  const char *name)
{
	for (size_t i = 0; i < cat->n_variants; i++)
		if (!strcmp(cat->variants[i].op, op) && !strcmp(cat->variants[i].name, name))
			return &cat->variants[i];
	return NULL;
}

bool assay_catalog_histogram_ok(const struct assay_catalog_op *op, size_t i, char *why, size_t size)
{
	const struct assay_catalog_metric *m = &op->metrics[i];
	size_t before = 0;

	for (size_t k = 0; k < i; k++)
		before += op->metrics[k].kind == ASSAY_METRIC_HISTOGRAM;
	if (before == ASSAY_MAX_HISTOGRAMS) {
		snprintf(why, size, "metric '%s' is one histogram too many, expected at most %d", m->tag,
			 ASSAY_MAX_HISTOGRAMS);
		return false;
	}
	if (!(m->lo >= 0)) {
		snprintf(why, size, "histogram '%s' may have values from %g on, expected 0 or more", m->tag, m->lo);
		return false;
	}
	for (size_t p = 0; p < assay_n_histogram_metrics; p++) {
		char tag[ASSAY_METRIC_TAG_MAX];
		bool taken;

		if (assay_histogram_tag(m->tag, assay_histogram_metrics[p].part, tag)) {
			snprintf(why, size, "histogram '%s' has too long a tag for '%s'", m->tag, tag);
			return false;
		}
		taken = assay_metric_find(tag) != NULL;
		for (size_t k = 0; k < op->n_metrics; k++)
			taken |= !strcmp(op->metrics[k].tag, tag);
		if (taken) {
			snprintf(why, size, "histogram '%s' gives '%s', which is another metric", m->tag, tag);
			return false;
		}
	}
	return true;
}

const struct assay_catalog_device *assay_catalog_device(const struct assay_catalog *cat, unsigned kind)
{
	for (size_t i = 0; i < cat->n_devices; i++)
		if (cat->devices[i].kind == kind)
			return &cat->devices[i];
	return NULL;
}

const char *assay_catalog_device_name(const struct assay_catalog *cat, unsigned kind)
{
	const struct assay_catalog_device *d = assay_catalog_device(cat, kind);

	return d ? d->name : kind == ASSAY_DEVICE_CUDA ? "cuda" : "device";
}

static const struct assay_catalog_device *device_of_name(const struct assay_catalog *cat, const char *name)
{
	for (size_t i = 0; i < cat->n_devices; i++)
		if (!strcmp(cat->devices[i].name, name))
			return &cat->devices[i];
	return NULL;
}

const struct assay_device_info *assay_catalog_device_info(const struct assay_catalog *cat, const char *device)
{
	const struct assay_catalog_device *d;
	char name[ASSAY_NAME_MAX];
	unsigned number;

	if (!assay_device_read(device, name, &number))
		return NULL;
	d = device_of_name(cat, name);
	return d && number < d->n_infos && d->infos[number].size ? &d->infos[number] : NULL;
}

/* "cuda:0, cuda:1, mock:0" */
static void list_devices(const struct assay_catalog *cat, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < cat->n_devices; i++)
		for (int k = 0; k < cat->devices[i].count && at < size; k++)
			at += (size_t)snprintf(buf + at, size - at, "%s%s:%d", at ? ", " : "", cat->devices[i].name, k);
}

int assay_catalog_check_device(const struct assay_catalog *cat, const char *device, const char *what,
			       struct assay_err *err)
{
	const struct assay_catalog_device *d;
	char name[ASSAY_NAME_MAX] = "", all[256];
	unsigned number = 0;

	d = assay_device_read(device, name, &number) ? device_of_name(cat, name) : NULL;
	if (d && d->count > 0 && number < (unsigned)d->count)
		return 0;
	if (d && d->count <= 0)
		return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', but there is no %s device: %s", what, device, name,
				     d->reason ? d->reason : "none found");
	list_devices(cat, all, sizeof(all));
	if (!all[0])
		return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', but no plugin provides a device", what, device);
	return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected one of the devices of this machine: %s", what,
			     device, all);
}

/* ---- device text ---- */

/* Devices in words. */

#define MHZ 1000000u
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static __attribute__((format(printf, 3, 4))) void add(char *buf, size_t size, const char *fmt, ...)
{
	size_t n = strlen(buf);
	va_list ap;

	if (n && n + 2 < size) {
		memcpy(buf + n, ", ", 3);
		n += 2;
	}
	va_start(ap, fmt);
	vsnprintf(buf + n, size - n, fmt, ap);
	va_end(ap);
}

static void add_mode(char *buf, size_t size, const char *name, uint32_t mode)
{
	if (mode != ASSAY_MODE_UNKNOWN)
		add(buf, size, "%s %s", name, mode == ASSAY_MODE_ON ? "on" : "off");
}

void assay_device_text(const struct assay_device_info *i, char *buf, size_t size)
{
	buf[0] = '\0';
	add(buf, size, "%s", i->name[0] ? i->name : "unknown device");
	if (i->arch[0])
		add(buf, size, "%s", i->arch);
	if (i->compute_units)
		add(buf, size, "%" PRIu32 " units", i->compute_units);
	if (i->core_hz_max)
		add(buf, size, "%" PRIu64 " MHz", i->core_hz_max / MHZ);
	if (i->memory_bytes)
		add(buf, size, "%" PRIu64 " %s",
		    i->memory_bytes < GIB ? i->memory_bytes / MIB : (i->memory_bytes + GIB / 2) / GIB,
		    i->memory_bytes < GIB ? "MiB" : "GiB");
	if (i->memory_hz_max)
		add(buf, size, "memory %" PRIu64 " MHz", i->memory_hz_max / MHZ);
	if (i->l2_bytes)
		add(buf, size, "L2 %" PRIu64 " MiB", i->l2_bytes / MIB);
	add_mode(buf, size, "ECC", i->ecc);
	add_mode(buf, size, "MIG", i->mig);
	if (i->pcie_generation)
		add(buf, size, "PCIe %" PRIu32 " x%" PRIu32, i->pcie_generation, i->pcie_lanes);
	if (i->driver[0])
		add(buf, size, "driver %s", i->driver);
}
