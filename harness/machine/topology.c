/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the machine (or an XML description of one) with hwloc and lists the CPUs that may be used, with their places.
 */
#include "machine/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc/cpukinds.h>

#include "machine/host_facts.h"
#include "machine/topology_table.h"

static int load(struct assay_topology *t, const char *xml_path, const char *told, struct assay_err *err)
{
	/* Disallowed CPUs stay in the tree, so that "does not exist" and "may not be used" can be told apart. */
	unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;

	if (hwloc_topology_init(&t->hw)) {
		t->hw = NULL;
		return assay_err_set(err, ASSAY_ENOMEM, "cannot read the topology: out of memory");
	}
	if (xml_path && hwloc_topology_set_xml(t->hw, xml_path))
		return assay_err_set(err, ASSAY_EIO, "cannot read topology '%s': %s", xml_path, strerror(errno));
	if (told && !hwloc_topology_set_xmlbuffer(t->hw, told, (int)strlen(told) + 1))
		flags |= HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM;
	hwloc_topology_set_flags(t->hw, flags);
	hwloc_topology_set_icache_types_filter(t->hw, HWLOC_TYPE_FILTER_KEEP_NONE);
	if (hwloc_topology_load(t->hw))
		return assay_err_set(err, ASSAY_EIO, "cannot read topology '%s': it is not an hwloc topology",
				     xml_path ? xml_path : "of this machine");
	t->here = !xml_path && hwloc_topology_is_thissystem(t->hw);
	return 0;
}

static int find_allowed(struct assay_topology *t, struct assay_err *err)
{
	hwloc_const_bitmap_t all = hwloc_topology_get_topology_cpuset(t->hw);
	hwloc_bitmap_t bound = hwloc_bitmap_alloc();
	int rc = 0;

	t->allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(t->hw));
	if (!bound || !t->allowed) {
		rc = assay_err_set(err, ASSAY_ENOMEM, "cannot read the topology: out of memory");
		goto out;
	}
	/* taskset and container runtimes narrow the affinity mask; where it cannot be read, the cpuset alone counts. */
	if (t->here && !hwloc_get_cpubind(t->hw, bound, HWLOC_CPUBIND_PROCESS) && !hwloc_bitmap_iszero(bound))
		hwloc_bitmap_and(t->allowed, t->allowed, bound);
	hwloc_bitmap_and(t->allowed, t->allowed, all);
	if (hwloc_bitmap_iszero(t->allowed)) {
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot place threads: no CPU of this machine is allowed");
		goto out;
	}
	hwloc_bitmap_list_snprintf(t->allowed_text, sizeof(t->allowed_text), t->allowed);
	t->restricted = !hwloc_bitmap_isequal(t->allowed, all);
out:
	hwloc_bitmap_free(bound);
	return rc;
}

static int node_of_pu(hwloc_topology_t hw, hwloc_obj_t pu)
{
	hwloc_obj_t node = NULL;

	/* Where a CPU is local to several nodes (DRAM and HBM), hwloc lists ordinary memory first. */
	while ((node = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_NUMANODE, node)))
		if (node->cpuset && hwloc_bitmap_isset(node->cpuset, pu->os_index))
			return (int)node->os_index;
	return -1;
}

/* hwloc ranks kinds from the slowest up; without a ranking all count as equal. */
static int kind_of_pu(hwloc_topology_t hw, hwloc_obj_t pu)
{
	int n = hwloc_cpukinds_get_nr(hw, 0), kind, efficiency = -1;

	if (n < 2)
		return 0;
	kind = hwloc_cpukinds_get_by_cpuset(hw, pu->cpuset, 0);
	if (kind < 0 || hwloc_cpukinds_get_info(hw, (unsigned)kind, NULL, &efficiency, NULL, NULL, 0) || efficiency < 0)
		return 0;
	return n - 1 - efficiency;
}

static unsigned group_of_pu(hwloc_topology_t hw, hwloc_obj_t pu, hwloc_obj_type_t type, unsigned none)
{
	hwloc_obj_t o = hwloc_get_ancestor_obj_by_type(hw, type, pu);

	return o ? o->logical_index : none;
}

static int compare_compact(const void *pa, const void *pb)
{
	const struct assay_slot *a = pa, *b = pb;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	for (int l = 0; l < ASSAY_N_SLOT_LEVELS; l++)
		if (a->group[l] != b->group[l])
			return a->group[l] < b->group[l] ? -1 : 1;
	return 0;
}

/* Slots are sorted: the first level on which two neighbours differ counts one up, the levels inside it start again. */
static void rank_slots(struct assay_slot *s, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int l = 0;

		if (s[i].kind != s[i - 1].kind)
			continue;
		while (l < ASSAY_N_SLOT_LEVELS - 1 && s[i].group[l] == s[i - 1].group[l])
			l++;
		memcpy(s[i].rank, s[i - 1].rank, (size_t)l * sizeof(s[i].rank[0]));
		s[i].rank[l] = s[i - 1].rank[l] + 1;
	}
}

static int list_slots(struct assay_topology *t, struct assay_err *err)
{
	hwloc_obj_t pu = NULL;

	t->slots = calloc((size_t)hwloc_bitmap_weight(t->allowed), sizeof(*t->slots));
	if (!t->slots)
		return assay_err_set(err, ASSAY_ENOMEM, "cannot read the topology: out of memory");
	while ((pu = hwloc_get_next_obj_by_type(t->hw, HWLOC_OBJ_PU, pu))) {
		struct assay_slot *s;

		if (!hwloc_bitmap_isset(t->allowed, pu->os_index))
			continue;
		s = &t->slots[t->n_slots++];
		s->cpu = (int)pu->os_index;
		s->node = node_of_pu(t->hw, pu);
		s->kind = kind_of_pu(t->hw, pu);
		s->group[ASSAY_SLOT_PACKAGE] = group_of_pu(t->hw, pu, HWLOC_OBJ_PACKAGE, 0);
		s->group[ASSAY_SLOT_NODE] = s->node < 0 ? 0 : (unsigned)s->node;
		s->group[ASSAY_SLOT_L3] = group_of_pu(t->hw, pu, HWLOC_OBJ_L3CACHE, 0);
		s->group[ASSAY_SLOT_L2] = group_of_pu(t->hw, pu, HWLOC_OBJ_L2CACHE, 0);
		s->group[ASSAY_SLOT_CORE] = group_of_pu(t->hw, pu, HWLOC_OBJ_CORE, pu->logical_index);
		s->group[ASSAY_SLOT_PU] = pu->logical_index;
	}
	qsort(t->slots, t->n_slots, sizeof(*t->slots), compare_compact);
	rank_slots(t->slots, t->n_slots);
	return 0;
}

static uint64_t memory_of(const struct assay_topology *t)
{
	struct assay_memory_state m;

	/* hwloc asks the NUMA nodes, whose totals follow a memory balloon; the machine's own figure does not. */
	if (t->here && !assay_memory_state(&m, NULL))
		return m.usable_bytes;
	return hwloc_get_root_obj(t->hw)->total_memory;
}

/* The text that assay_topology_text() hands out; NULL where it cannot be had. */
static void write_text(struct assay_topology *t)
{
	int bytes;

	if (t->here && hwloc_topology_export_xmlbuffer(t->hw, &t->text, &bytes, 0))
		t->text = NULL;
}

static int open_topology(struct assay_topology **out, const char *xml_path, const char *told, struct assay_err *err)
{
	struct assay_topology *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return assay_err_set(err, ASSAY_ENOMEM, "cannot read the topology: out of memory");
	rc = load(t, xml_path, told, err);
	if (!rc)
		rc = find_allowed(t, err);
	if (!rc)
		rc = list_slots(t, err);
	if (rc) {
		assay_topology_close(t);
		return rc;
	}
	t->memory_bytes = memory_of(t);
	if (!told)
		write_text(t);
	*out = t;
	return 0;
}

int assay_topology_open(struct assay_topology **t, const char *xml_path, struct assay_err *err)
{
	return open_topology(t, xml_path, NULL, err);
}

int assay_topology_open_told(struct assay_topology **t, const char *text, struct assay_err *err)
{
	return open_topology(t, NULL, text, err);
}

const char *assay_topology_text(const struct assay_topology *t)
{
	return t->text;
}

void assay_topology_close(struct assay_topology *t)
{
	if (!t)
		return;
	if (t->text)
		hwloc_free_xmlbuffer(t->hw, t->text);
	free(t->slots);
	hwloc_bitmap_free(t->allowed);
	if (t->hw)
		hwloc_topology_destroy(t->hw);
	free(t);
}

struct cache_sizes {
	uint64_t l1d, l2, llc;
};

/*
 * A core complex of AMD's has a level 3 cache of 96 MiB at most up to family 26 (Zen 3 to 5 with 3D V-Cache). Where a
 * hypervisor hides CPUID leaf 0x8000001D, which tells of a complex, leaf 0x80000006 is left, with the caches of all
 * complexes together (AMD64 Architecture Programmer's Manual, volume 3, appendix E.4).
 */
#define AMD_L3_BYTES    (UINT64_C(96) << 20)
#define AMD_LAST_FAMILY 26

/* 0: there is no @cache. */
static uint64_t bytes_of(const struct assay_topology *t, hwloc_obj_t cache)
{
	hwloc_obj_t package = cache ? hwloc_get_ancestor_obj_by_type(t->hw, HWLOC_OBJ_PACKAGE, cache) : NULL;
	const char *vendor = package ? hwloc_obj_get_info_by_name(package, "CPUVendor") : NULL;
	const char *family = package ? hwloc_obj_get_info_by_name(package, "CPUFamilyNumber") : NULL;
	const uint64_t told = cache ? cache->attr->cache.size : 0;
	const bool of_all_complexes = cache && cache->type == HWLOC_OBJ_L3CACHE && told > AMD_L3_BYTES && vendor &&
				      !strcmp(vendor, "AuthenticAMD") && family && atoi(family) <= AMD_LAST_FAMILY;

	return of_all_complexes ? AMD_L3_BYTES : told;
}

static struct cache_sizes caches_of(const struct assay_topology *t, hwloc_obj_t pu)
{
	static const hwloc_obj_type_t types[4] = { HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
						   HWLOC_OBJ_L4CACHE };
	uint64_t bytes[4];

	for (int i = 0; i < 4; i++)
		bytes[i] = bytes_of(t, pu ? hwloc_get_ancestor_obj_by_type(t->hw, types[i], pu) : NULL);
	return (struct cache_sizes){ bytes[0], bytes[1], bytes[3] ? bytes[3] : bytes[2] ? bytes[2] : bytes[1] };
}

static size_t count_cores(const struct assay_topology *t, bool fastest_only)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_slots; i++)
		n += !t->slots[i].rank[ASSAY_SLOT_PU] && !(fastest_only && t->slots[i].kind);
	return n;
}

void assay_topology_host_info(const struct assay_topology *t, struct assay_host_info *out)
{
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(t->hw, (unsigned)t->slots[0].cpu);
	const struct cache_sizes c = caches_of(t, pu);

	*out = (struct assay_host_info){ .size = sizeof(*out) };
	out->n_cores = (uint32_t)count_cores(t, false);
	out->l1d_bytes = c.l1d;
	out->l2_bytes = c.l2;
	out->llc_bytes = c.llc;
	out->memory_bytes = t->memory_bytes;
}

/* Where the associativity is not known, or it is full: that of the fixed model. */
static struct assay_cache_level simulated(const struct assay_topology *t, hwloc_obj_t cache,
					  const struct assay_cache_level *like)
{
	const struct hwloc_cache_attr_s *a = &cache->attr->cache;

	return assay_cache_level_round(bytes_of(t, cache),
				       a->associativity > 0 ? (unsigned)a->associativity : like->ways,
				       a->linesize ? a->linesize : like->line_bytes);
}

int assay_topology_cache_model(const struct assay_topology *t, struct assay_cache_model *out, struct assay_err *err)
{
	static const hwloc_obj_type_t last[] = { HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE };
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(t->hw, (unsigned)t->slots[0].cpu), d1, l2, ll = NULL;

	if (!assay_cache_model_find("canon", out))
		return assay_err_set(err, ASSAY_EINTERNAL, "no cache model 'canon'");
	d1 = pu ? hwloc_get_ancestor_obj_by_type(t->hw, HWLOC_OBJ_L1CACHE, pu) : NULL;
	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]) && pu && !ll; i++)
		ll = hwloc_get_ancestor_obj_by_type(t->hw, last[i], pu);
	if (!d1 || !ll)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "the caches of this machine are not known: use the cache model 'canon'");
	snprintf(out->name, sizeof(out->name), "host");
	out->d1 = simulated(t, d1, &out->d1);
	out->ll = simulated(t, ll, &out->ll);
	l2 = hwloc_get_ancestor_obj_by_type(t->hw, HWLOC_OBJ_L2CACHE, pu);
	out->l2 = l2 && l2 != ll ? simulated(t, l2, &out->l2) : (struct assay_cache_level){ .bytes = 0 };
	return 0;
}

static size_t count_all(const struct assay_topology *t, hwloc_obj_type_t type)
{
	int n = hwloc_get_nbobjs_by_type(t->hw, type);

	return n > 0 ? (size_t)n : 0;
}

void assay_topology_machine(const struct assay_topology *t, struct assay_machine_size *out)
{
	hwloc_obj_t pu = NULL;
	struct cache_sizes c;

	out->sockets = count_all(t, HWLOC_OBJ_PACKAGE);
	out->cores = count_all(t, HWLOC_OBJ_CORE);
	out->cpus = count_all(t, HWLOC_OBJ_PU);
	out->nodes = count_all(t, HWLOC_OBJ_NUMANODE);
	out->llcs = count_all(t, HWLOC_OBJ_L3CACHE);
	if (!out->sockets)
		out->sockets = 1;
	if (!out->cores)
		out->cores = out->cpus;
	while ((pu = hwloc_get_next_obj_by_type(t->hw, HWLOC_OBJ_PU, pu)) && kind_of_pu(t->hw, pu))
		;
	c = caches_of(t, pu);
	out->l1d_bytes = c.l1d;
	out->l2_bytes = c.l2;
	out->llc_bytes = c.llc;
}

const char *assay_topology_allowed(const struct assay_topology *t, bool *restricted)
{
	if (restricted)
		*restricted = t->restricted;
	return t->allowed_text;
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

void assay_topology_summary(const struct assay_topology *t, char *buf, size_t size)
{
	struct assay_machine_size m;
	struct assay_memory_text l1, l2, l3;
	char fast[48] = "", allowed[160] = "", l3_count[32] = "";
	size_t n_fast = count_cores(t, true), n = count_cores(t, false);

	assay_topology_machine(t, &m);
	l1 = assay_memory_text(m.l1d_bytes);
	l2 = assay_memory_text(m.l2_bytes);
	l3 = assay_memory_text(m.llc_bytes);
	if (n_fast != n)
		snprintf(fast, sizeof(fast), " (%zu fast)", n_fast);
	if (m.llcs > 1)
		snprintf(l3_count, sizeof(l3_count), "%zu x ", m.llcs);
	if (t->restricted)
		snprintf(allowed, sizeof(allowed), ", of which CPU%s %s may be used", plural(t->n_slots),
			 t->allowed_text);
	snprintf(buf, size, "%zu socket%s, %zu core%s%s, %zu thread%s, L1d %s, L2 %s, %s%s %s, %zu NUMA node%s%s",
		 m.sockets, plural(m.sockets), m.cores, plural(m.cores), fast, m.cpus, plural(m.cpus), l1.s, l2.s,
		 l3_count, m.llcs ? "L3" : "last level", l3.s, m.nodes, plural(m.nodes), allowed);
}

int assay_topology_node_of_cpu(const struct assay_topology *t, int cpu)
{
	hwloc_obj_t pu = cpu < 0 ? NULL : hwloc_get_pu_obj_by_os_index(t->hw, (unsigned)cpu);

	return pu ? node_of_pu(t->hw, pu) : -1;
}

bool assay_topology_share_a_core(const struct assay_topology *t, const int *cpus, size_t n)
{
	hwloc_bitmap_t seen = hwloc_bitmap_alloc();
	bool shared = false;

	for (size_t i = 0; seen && i < n && !shared; i++) {
		hwloc_obj_t pu = cpus[i] < 0 ? NULL : hwloc_get_pu_obj_by_os_index(t->hw, (unsigned)cpus[i]);
		hwloc_obj_t core = pu ? hwloc_get_ancestor_obj_by_type(t->hw, HWLOC_OBJ_CORE, pu) : NULL;

		if (!core)
			continue;
		shared = hwloc_bitmap_isset(seen, core->logical_index) != 0;
		hwloc_bitmap_set(seen, core->logical_index);
	}
	hwloc_bitmap_free(seen);
	return shared;
}
