/* SPDX-License-Identifier: Apache-2.0 */
/* Where GPUs are: a machine of two sockets with five, two of them behind a switch, and machines with none. */
#include "machine/environment.h"
#include "recorded_machine.h"

TEST(five_gpus)
{
	static const enum assay_gpu_path want[5][5] = {
		{ 0, ASSAY_GPUS_SAME_SWITCH, ASSAY_GPUS_ACROSS, ASSAY_GPUS_ACROSS, ASSAY_GPUS_ACROSS },
		{ ASSAY_GPUS_SAME_SWITCH, 0, ASSAY_GPUS_ACROSS, ASSAY_GPUS_ACROSS, ASSAY_GPUS_ACROSS },
		{ ASSAY_GPUS_ACROSS, ASSAY_GPUS_ACROSS, 0, ASSAY_GPUS_SAME_ROOT, ASSAY_GPUS_SAME_NODE },
		{ ASSAY_GPUS_ACROSS, ASSAY_GPUS_ACROSS, ASSAY_GPUS_SAME_ROOT, 0, ASSAY_GPUS_SAME_NODE },
		{ ASSAY_GPUS_ACROSS, ASSAY_GPUS_ACROSS, ASSAY_GPUS_SAME_NODE, ASSAY_GPUS_SAME_NODE, 0 },
	};
	static const char *const pci[] = { "0000:3b:00.0", "0000:3c:00.0", "0000:86:00.0", "0000:af:00.0",
					   "0000:e1:00.0" };
	struct assay_gpu_topology t;
	struct assay_err err = { 0 };
	char known_as[32];

	if (assay_gpu_topology_read(&t, RECORDED_MACHINE("five-gpus"), &err))
		fail_msg("%s", err.text);
	assert_int_equal(t.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(t.v[i].pci, pci[i]);
		assert_string_equal(t.v[i].name, "NVIDIA Corporation GH100 [H100 SXM5 80GB]");
		snprintf(known_as, sizeof(known_as), "cuda%zu, nvml%zu", i, i);
		assert_string_equal(t.v[i].known_as, known_as);
		assert_int_equal(t.v[i].node, i < 2 ? 0 : 1);
		assert_string_equal(t.v[i].cpus, i < 2 ? "0-7,16-23" : "8-15,24-31");
		assert_true(t.v[i].link_bytes_per_s > 63e9 && t.v[i].link_bytes_per_s < 63.1e9);
		for (size_t k = 0; k < 5; k++)
			if (i != k)
				assert_int_equal(t.path[i * 5 + k], want[i][k]);
	}
	assay_gpu_topology_release(&t);
}

TEST(none)
{
	struct assay_gpu_topology t;
	struct assay_err err = { 0 };

	assert_int_equal(assay_gpu_topology_read(&t, RECORDED_MACHINE("hybrid"), &err), 0);
	assert_int_equal(t.n, 0);
	assay_gpu_topology_release(&t);
	assert_int_equal(assay_gpu_topology_read(&t, RECORDED_MACHINE("absent"), &err), ASSAY_EIO);
	assay_gpu_topology_release(&t);
	assert_int_equal(assay_gpu_topology_read(&t, "tests/unit/machine/gpu_topology.c", &err), ASSAY_EIO);
	assay_gpu_topology_release(&t);
}

TEST(doctor_tells_places_and_paths)
{
	static const char second[] = "1 at 0000:3c:00.0, NVIDIA Corporation GH100 [H100 SXM5 80GB], cuda1, nvml1: CPUs "
				     "0-7,16-23, NUMA node 0, "
				     "link of 63 GB/s; by a PCI switch to 0; across NUMA nodes to 2, 3, 4";
	struct assay_findings l = { 0 };

	assay_doctor_gpu_places(&l, RECORDED_MACHINE("five-gpus"));
	assert_int_equal(l.n, 5);
	assert_string_equal(l.v[1].name, "gpu_place");
	assert_string_equal(l.v[1].value, second);
	assay_findings_release(&l);
	assay_doctor_gpu_places(&l, RECORDED_MACHINE("hybrid"));
	assert_int_equal(l.n, 0);
	assay_findings_release(&l);
}

UNIT_GROUP(NULL, NULL)
