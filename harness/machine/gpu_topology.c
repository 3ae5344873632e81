/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topology of its own, with I/O devices, which the one for placing threads leaves out: to find them takes longer than
 * all else.
 */
#include "machine/topology.h"

#include <errno.h>
#include <hwloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVIDIA        0x10de
#define CLASS_DISPLAY 0x03 /* the higher byte of a PCI class: VGA and 3D controllers */
#define BYTES_PER_GB  1e9

const char *assay_gpu_path_text(enum assay_gpu_path p)
{
	static const char *const texts[ASSAY_N_GPU_PATHS] = {
		[ASSAY_GPUS_SAME_SWITCH] = "by a PCI switch to ",
		[ASSAY_GPUS_SAME_ROOT] = "by the same PCI root to ",
		[ASSAY_GPUS_SAME_NODE] = "within a NUMA node to ",
		[ASSAY_GPUS_ACROSS] = "across NUMA nodes to ",
	};

	return texts[p];
}

static bool is_gpu(hwloc_obj_t o)
{
	return o->type == HWLOC_OBJ_PCI_DEVICE && o->attr->pcidev.vendor_id == NVIDIA &&
	       o->attr->pcidev.class_id >> 8 == CLASS_DISPLAY;
}

/* The names that libraries for GPUs have for it: cuda0, nvml0, opencl0d0. */
static void add_names(hwloc_obj_t o, char *buf, size_t size)
{
	for (hwloc_obj_t c = o->io_first_child; c; c = c->next_sibling) {
		const size_t n = strlen(buf);

		if (c->type == HWLOC_OBJ_OS_DEVICE && c->name &&
		    (c->attr->osdev.type == HWLOC_OBJ_OSDEV_COPROC || c->attr->osdev.type == HWLOC_OBJ_OSDEV_GPU) &&
		    strncmp(c->name, "card", 4) && strncmp(c->name, "render", 6))
			snprintf(buf + n, size - n, "%s%s", n ? ", " : "", c->name);
	}
}

static void describe(hwloc_topology_t hw, hwloc_obj_t o, struct assay_gpu_place *p)
{
	const struct hwloc_pcidev_attr_s *a = &o->attr->pcidev;
	const hwloc_obj_t beside = hwloc_get_non_io_ancestor_obj(hw, o);

	*p = (struct assay_gpu_place){ .node = -1, .link_bytes_per_s = a->linkspeed * BYTES_PER_GB };
	snprintf(p->pci, sizeof(p->pci), "%04x:%02x:%02x.%01x", a->domain & 0xffffu, a->bus, a->dev, a->func & 0xfu);
	snprintf(p->name, sizeof(p->name), "%.95s", o->name ? o->name : "");
	add_names(o, p->known_as, sizeof(p->known_as));
	if (beside && beside->cpuset)
		hwloc_bitmap_list_snprintf(p->cpus, sizeof(p->cpus), beside->cpuset);
	if (beside && beside->nodeset && hwloc_bitmap_weight(beside->nodeset) == 1)
		p->node = hwloc_bitmap_first(beside->nodeset);
}

/* hwloc's own function for it is for objects of the tree without I/O alone. */
static hwloc_obj_t common_parent(hwloc_obj_t a, hwloc_obj_t b)
{
	for (hwloc_obj_t x = a->parent; x; x = x->parent)
		for (hwloc_obj_t y = b->parent; y; y = y->parent)
			if (x == y)
				return x;
	return NULL;
}

static enum assay_gpu_path path_of(hwloc_obj_t a, hwloc_obj_t b)
{
	const hwloc_obj_t both = common_parent(a, b);

	if (both && both->type == HWLOC_OBJ_BRIDGE)
		return both->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST ? ASSAY_GPUS_SAME_ROOT
										 : ASSAY_GPUS_SAME_SWITCH;
	return both && both->nodeset && hwloc_bitmap_weight(both->nodeset) == 1 ? ASSAY_GPUS_SAME_NODE
										: ASSAY_GPUS_ACROSS;
}

static int by_address(const void *a, const void *b)
{
	const struct hwloc_pcidev_attr_s *x = &(*(const hwloc_obj_t *)a)->attr->pcidev,
					 *y = &(*(const hwloc_obj_t *)b)->attr->pcidev;

	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	if (x->bus != y->bus)
		return x->bus < y->bus ? -1 : 1;
	return x->dev != y->dev ? (x->dev < y->dev ? -1 : 1) : 0;
}

static int take(hwloc_topology_t hw, struct assay_gpu_topology *t, struct assay_err *err)
{
	hwloc_obj_t *found, o = NULL;
	size_t n = 0, most = 0;

	while ((o = hwloc_get_next_pcidev(hw, o)))
		most += is_gpu(o);
	found = calloc(most + 1, sizeof(*found));
	t->v = calloc(most + 1, sizeof(*t->v));
	t->path = calloc(most * most + 1, sizeof(*t->path));
	if (!found || !t->v || !t->path) {
		free(found);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	while ((o = hwloc_get_next_pcidev(hw, o)) && n < most)
		if (is_gpu(o))
			found[n++] = o;
	qsort(found, n, sizeof(*found), by_address);
	for (size_t i = 0; i < n; i++) {
		describe(hw, found[i], &t->v[i]);
		for (size_t k = 0; k < n; k++)
			t->path[i * n + k] = path_of(found[i], found[k]);
	}
	t->n = n;
	free(found);
	return 0;
}

int assay_gpu_topology_read(struct assay_gpu_topology *t, const char *xml_path, struct assay_err *err)
{
	hwloc_topology_t hw;
	int rc = 0;

	*t = (struct assay_gpu_topology){ .n = 0 };
	if (hwloc_topology_init(&hw))
		return assay_err_set(err, ASSAY_ENOMEM, "cannot read the topology: out of memory");
	if (xml_path && hwloc_topology_set_xml(hw, xml_path))
		rc = assay_err_set(err, ASSAY_EIO, "cannot read topology '%s': %s", xml_path, strerror(errno));
	hwloc_topology_set_io_types_filter(hw, HWLOC_TYPE_FILTER_KEEP_ALL);
	if (!rc && hwloc_topology_load(hw))
		rc = assay_err_set(err, ASSAY_EIO, "cannot read topology '%s': it is not an hwloc topology",
				   xml_path ? xml_path : "of this machine");
	if (!rc)
		rc = take(hw, t, err);
	hwloc_topology_destroy(hw);
	return rc;
}

void assay_gpu_topology_release(struct assay_gpu_topology *t)
{
	free(t->v);
	free(t->path);
	*t = (struct assay_gpu_topology){ .n = 0 };
}
