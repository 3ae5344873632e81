/* SPDX-License-Identifier: Apache-2.0 */
/* Machines that tests do not run on: recorded ones, and regular ones that hwloc makes of a description. */
#ifndef ASSAY_TESTS_RECORDED_MACHINE_H
#define ASSAY_TESTS_RECORDED_MACHINE_H

#include "unit.h"
#include "machine/topology.h"

#include <hwloc.h>
#include <unistd.h>

#define RECORDED_MACHINE(name) "tests/fixtures/topology/" name ".xml"

/* Write what hwloc makes of @description to the file @path. */
static inline void machine_export(const char *description, const char *path)
{
	hwloc_topology_t t;

	assert_int_equal(hwloc_topology_init(&t), 0);
	assert_int_equal(hwloc_topology_set_synthetic(t, description), 0);
	assert_int_equal(hwloc_topology_load(t), 0);
	assert_int_equal(hwloc_topology_export_xml(t, path, 0), 0);
	hwloc_topology_destroy(t);
}

static inline struct assay_topology *machine_open(const char *name)
{
	static const struct {
		const char *name, *description;
	} regular[] = {
		{ "one-core", "pack:1 [numa(memory=2147483648)] l2:1(size=524288) l1d:1(size=32768) core:1 pu:1" },
		{ "two-sockets", "pack:2 [numa(memory=68719476736)] l3:1(size=33554432) l2:8(size=1048576) "
				 "l1d:1(size=49152) core:1 pu:2(indexes=2*16:1*2)" },
		{ "four-l3", "pack:2 [numa(memory=68719476736)] l3:2(size=33554432) l2:4(size=1048576) "
			     "l1d:1(size=32768) core:1 pu:1" },
	};
	char path[128], made[] = "/tmp/assay-machine-XXXXXX";
	struct assay_topology *t = NULL;
	struct assay_err err = { 0 };
	const int fd = mkstemp(made);

	assert_true(fd >= 0);
	close(fd);
	snprintf(path, sizeof(path), RECORDED_MACHINE("%s"), name);
	for (size_t i = 0; i < N_OF(regular); i++)
		if (!strcmp(regular[i].name, name)) {
			machine_export(regular[i].description, made);
			snprintf(path, sizeof(path), "%s", made);
		}
	if (assay_topology_open(&t, path, &err))
		fail_msg("%s: %s", name, err.text);
	unlink(made);
	return t;
}

#endif
