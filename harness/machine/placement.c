/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses CPUs for threads from the table of allowed CPUs; binds nothing. */
#include "machine/topology.h"

#include <stdlib.h>
#include <string.h>

#include "machine/topology_table.h"

int assay_slot_check(const struct assay_topology *t, int cpu, struct assay_err *err)
{
	char all[128];

	if (cpu >= 0 && hwloc_bitmap_isset(t->allowed, (unsigned)cpu))
		return 0;
	if (cpu >= 0 && hwloc_get_pu_obj_by_os_index(t->hw, (unsigned)cpu))
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"cannot use CPU '%d': it is outside the cpuset %s of this process or its container", cpu,
			t->allowed_text);
	if (cpu >= 0 && hwloc_bitmap_isset(hwloc_topology_get_complete_cpuset(t->hw), (unsigned)cpu))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "cannot use CPU '%d': it is offline; 'echo 1 > "
				     "/sys/devices/system/cpu/cpu%d/online' as root brings it back",
				     cpu, cpu);
	hwloc_bitmap_list_snprintf(all, sizeof(all), hwloc_topology_get_topology_cpuset(t->hw));
	return assay_err_set(err, ASSAY_EUSAGE, "cannot use CPU '%d': this machine has CPUs %s", cpu, all);
}

static int check_list(const struct assay_topology *t, const struct assay_placement_options *o, struct assay_err *err)
{
	hwloc_bitmap_t seen = hwloc_bitmap_alloc();
	int rc = 0;

	if (!seen)
		return assay_err_set(err, ASSAY_ENOMEM, "cannot place threads: out of memory");
	for (size_t i = 0; i < o->n_cpus && !rc; i++) {
		rc = assay_slot_check(t, o->cpus[i], err);
		if (!rc && hwloc_bitmap_isset(seen, (unsigned)o->cpus[i]))
			rc = assay_err_set(err, ASSAY_EUSAGE, "cannot use CPU '%d' twice: name each CPU once",
					   o->cpus[i]);
		if (!rc)
			hwloc_bitmap_set(seen, (unsigned)o->cpus[i]);
	}
	hwloc_bitmap_free(seen);
	return rc;
}

static int compare_scatter(const void *pa, const void *pb)
{
	const struct assay_slot *a = pa, *b = pb;

	/* A sibling of a busy fast core is slower than an idle slow core. */
	if (a->rank[ASSAY_SLOT_PU] != b->rank[ASSAY_SLOT_PU])
		return a->rank[ASSAY_SLOT_PU] < b->rank[ASSAY_SLOT_PU] ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	/* From the inside out: the outermost level is the one that changes fastest. */
	for (int l = ASSAY_SLOT_CORE; l >= 0; l--)
		if (a->rank[l] != b->rank[l])
			return a->rank[l] < b->rank[l] ? -1 : 1;
	return 0;
}

static size_t count_by_policy(const struct assay_topology *t, bool smt)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_slots; i++)
		n += smt || !t->slots[i].rank[ASSAY_SLOT_PU];
	return n;
}

size_t assay_placement_max(const struct assay_topology *t, const struct assay_placement_options *o)
{
	return o->cpus ? o->n_cpus : count_by_policy(t, o->smt);
}

int assay_placement_pick(const struct assay_topology *t, const struct assay_placement_options *o, size_t n, int *out,
			 struct assay_err *err)
{
	struct assay_slot *slots;
	size_t picked = 0;
	int rc;

	if (o->cpus) {
		rc = check_list(t, o, err);
		if (rc)
			return rc;
	}
	if (!n)
		return assay_err_set(err, ASSAY_EUSAGE, "cannot place '0' threads: ask for at least one");
	if (n > assay_placement_max(t, o)) {
		size_t max = assay_placement_max(t, o), with_smt = count_by_policy(t, true);

		if (o->cpus)
			return assay_err_set(err, ASSAY_EUSAGE, "cannot place %zu threads: the list of CPUs names %zu",
					     n, max);
		if (n <= with_smt)
			return assay_err_set(err, ASSAY_EUSAGE,
					     "cannot place %zu threads one to a core: cpuset %s has %zu cores; "
					     "ask for at most %zu, or allow SMT siblings",
					     n, t->allowed_text, max, max);
		return assay_err_set(err, ASSAY_EUSAGE, "cannot place %zu threads: cpuset %s has room for %zu", n,
				     t->allowed_text, max);
	}
	if (o->cpus) {
		memcpy(out, o->cpus, n * sizeof(*out));
		return 0;
	}

	slots = malloc(t->n_slots * sizeof(*slots));
	if (!slots)
		return assay_err_set(err, ASSAY_ENOMEM, "cannot place threads: out of memory");
	memcpy(slots, t->slots, t->n_slots * sizeof(*slots));
	if (o->policy == ASSAY_PLACE_SCATTER)
		qsort(slots, t->n_slots, sizeof(*slots), compare_scatter);
	for (size_t i = 0; i < t->n_slots && picked < n; i++)
		if (o->smt || !slots[i].rank[ASSAY_SLOT_PU])
			out[picked++] = slots[i].cpu;
	free(slots);
	return 0;
}
