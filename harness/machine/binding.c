/* SPDX-License-Identifier: Apache-2.0 */
/* Binds threads to CPUs and memory to nodes, and reads back what the kernel made of it. */
#include "machine/topology.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/monotonic.h"
#include "machine/topology_table.h"

#define ARRIVAL_LIMIT_NS 1000000000u

int assay_bind_current_cpu(void)
{
	return sched_getcpu();
}

static const char *why_refused(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return "permission denied by the container's or sandbox's system call filter; allow it, or run outside";
	case ENOSYS:
		return "the kernel or sandbox has no such call";
	case EINVAL:
	case EXDEV:
		return "the cpuset of this process no longer contains it";
	default:
		return strerror(error);
	}
}

static bool arrived(int cpu)
{
	uint64_t start = assay_monotonic_ns();

	while (sched_getcpu() != cpu) {
		if (assay_monotonic_ns() - start > ARRIVAL_LIMIT_NS)
			return false;
		sched_yield();
	}
	return true;
}

static int read_back(const struct assay_topology *t, int cpu, struct assay_err *err)
{
	hwloc_bitmap_t got = hwloc_bitmap_alloc();
	char text[128];
	int rc = 0;

	if (!got)
		return assay_err_set(err, ASSAY_ENOMEM, "cannot bind to CPU '%d': out of memory", cpu);
	if (hwloc_get_cpubind(t->hw, got, HWLOC_CPUBIND_THREAD)) {
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot read the binding to CPU '%d' back: %s", cpu,
				   strerror(errno));
	} else if (hwloc_bitmap_weight(got) != 1 || !hwloc_bitmap_isset(got, (unsigned)cpu)) {
		hwloc_bitmap_list_snprintf(text, sizeof(text), got);
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE,
				   "cannot bind to CPU '%d': the thread may still run on %s; a sandbox ignored the "
				   "call, or the cpuset was changed",
				   cpu, text);
	}
	hwloc_bitmap_free(got);
	return rc;
}

int assay_bind_thread(const struct assay_topology *t, int cpu, struct assay_err *err)
{
	hwloc_obj_t pu;
	int rc;

	if (!t->here)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "cannot bind to CPU '%d': the topology is of another machine", cpu);
	rc = assay_slot_check(t, cpu, err);
	if (rc)
		return err ? (err->code = ASSAY_EUNAVAILABLE) : ASSAY_EUNAVAILABLE;
	pu = hwloc_get_pu_obj_by_os_index(t->hw, (unsigned)cpu);
	if (hwloc_set_cpubind(t->hw, pu->cpuset, HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT))
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot bind to CPU '%d': %s (cpuset %s)", cpu,
				     why_refused(errno), t->allowed_text);
	rc = read_back(t, cpu, err);
	if (rc)
		return rc;
	if (!arrived(cpu))
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "cannot bind to CPU '%d': the thread still runs on CPU %d", cpu, sched_getcpu());
	return 0;
}

int assay_bind_memory(const struct assay_topology *t, void *ptr, size_t bytes, int cpu, struct assay_err *err)
{
	hwloc_obj_t node;
	int index, rc;

	if (!t->here)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot bind memory: the topology is of another machine");
	if (!bytes || hwloc_get_nbobjs_by_type(t->hw, HWLOC_OBJ_NUMANODE) <= 1)
		return 0;
	index = assay_topology_node_of_cpu(t, cpu);
	node = index < 0 ? NULL : hwloc_get_numanode_obj_by_os_index(t->hw, (unsigned)index);
	if (!node)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "cannot bind memory: the NUMA node of CPU '%d' is unknown", cpu);
	rc = hwloc_set_area_membind(t->hw, ptr, bytes, node->nodeset, HWLOC_MEMBIND_BIND,
				    HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT);
	if (!rc)
		return 0;
	return assay_err_set(err, ASSAY_EUNAVAILABLE, "cannot bind memory to NUMA node '%d': %s", index,
			     errno == EPERM || errno == ENOSYS ? why_refused(errno)
			     : errno == EINVAL ? "the memory nodes allowed to this process (cpuset.mems) lack it"
					       : strerror(errno));
}
