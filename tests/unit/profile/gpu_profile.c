/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of GPUs: files of the recorder, and occupancy against NVIDIA's calculator. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "counters/gpu/cupti_abi.h"
#include "profile/profile.h"
#include "unit.h"

/* Values of NVIDIA's occupancy calculator for compute capabilities 7.0, 8.0 and 9.0. */
TEST(occupancy_is_that_of_nvidias_calculator)
{
	static const struct assay_gpu_limits v100 = { .warps = 64,
						      .blocks = 32,
						      .shared_bytes = 96 << 10,
						      .registers = 65536,
						      .warp_threads = 32,
						      .major = 7 },
					     a100 = { .warps = 64,
						      .blocks = 32,
						      .shared_bytes = 164 << 10,
						      .registers = 65536,
						      .warp_threads = 32,
						      .major = 8 };
	static const struct {
		const struct assay_gpu_limits *l;
		unsigned block, registers, shared;
		double want;
	} cases[] = {
		{ &a100, 256, 32, 0, 1 },
		{ &a100, 256, 40, 0, 0.75 },
		{ &a100, 256, 64, 0, 0.5 },
		{ &a100, 32, 16, 0, 0.5 },
		{ &a100, 1024, 64, 0, 0.5 },
		{ &a100, 1024, 65, 0, 0 },
		{ &a100, 96, 32, 0, 63.0 / 64 },
		{ &a100, 128, 32, 40 << 10, 0.25 },
		{ &a100, 128, 32, 41 << 10, 0.1875 },
		{ &v100, 128, 32, 48 << 10, 0.125 },
		{ &v100, 64, 255, 0, 0.125 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct assay_gpu_key k = { .kind = ASSAY_GPU_KERNEL,
						 .block = cases[i].block,
						 .registers = cases[i].registers,
						 .shared_bytes = cases[i].shared };
		const double v = assay_gpu_occupancy(&k, cases[i].l);

		if (fabs(v - cases[i].want) > 1e-9)
			fail_msg("case %zu: %g, expected %g", i, v, cases[i].want);
	}
	assert_true(
		isnan(assay_gpu_occupancy(&(struct assay_gpu_key){ .block = 32 }, &(struct assay_gpu_limits){ 0 })));
}

/* A file with the header @h and @n kernels of 10 ns. */
static void write_file(const char *dir, const char *name, struct assay_gpu_header h, size_t n)
{
	struct assay_gpu_record r = { .key = { .kind = ASSAY_GPU_KERNEL, .block = 32, .name = "k" },
				      .count = 1,
				      .ns = 10,
				      .least_ns = 10,
				      .most_ns = 10 };
	char path[4200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s" ASSAY_GPU_RECORDS_ENDING, dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fwrite(&h, sizeof(h), 1, f);
	for (size_t i = 0; i < n; i++) {
		r.key.stream = (uint32_t)i;
		fwrite(&r, sizeof(r), 1, f);
	}
	fclose(f);
}

static struct assay_gpu_header header(size_t n)
{
	return (struct assay_gpu_header){ .magic = ASSAY_GPU_RECORDS_MAGIC,
					  .used = sizeof(struct assay_gpu_header) + n * sizeof(struct assay_gpu_record),
					  .version = 130000,
					  .bytes = sizeof(struct assay_gpu_record),
					  .name = "prog" };
}

TEST(files_are_added_up_and_damaged_ones_are_left_out)
{
	struct assay_temporary t = { 0 };
	struct assay_profile p = { .name = "" };
	struct assay_err err = { 0 };
	struct assay_gpu_header h = header(2);

	assert_int_equal(assay_temporary_make(&t, "test", &err), 0);
	write_file(t.path, "1.0", h, 2);
	h.used += sizeof(struct assay_gpu_record); /* one more than there is */
	write_file(t.path, "2.0", h, 2);
	h = header(2);
	h.magic++;
	write_file(t.path, "3.0", h, 2);
	h = header(0);
	h.version = 0;
	snprintf(h.why, sizeof(h.why), "it is too old");
	write_file(t.path, "4.0", h, 0);
	assert_int_equal(assay_gpu_profile_read(t.path, &p, &err), 0);
	assert_int_equal(p.stacks.n_stacks, 2);
	assert_int_equal(p.stacks.weight, 20);
	assert_int_equal(p.gpu.work[1].calls, 1);
	assert_true(isnan(p.gpu.work[1].occupancy_frac)); /* no device was told */
	assert_string_equal(p.gpu.why, "");
	assert_string_equal(p.source, "NVML, CUPTI 130000");
	assay_profile_release(&p);
	assay_temporary_remove(&t);
}

UNIT_GROUP(NULL, NULL)
