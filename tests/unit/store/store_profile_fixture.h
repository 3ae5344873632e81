/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles made by hand, which several tests of the store share. */
#ifndef ASSAY_TESTS_STORE_PROFILE_FIXTURE_H
#define ASSAY_TESTS_STORE_PROFILE_FIXTURE_H

#include <math.h>

#include "store_fixture.h"
#include "store/profile.h"

/* A profile called @name that began at @started_ns: a thread, two frames, three stacks, of which one has none. */
static inline void add_profile(struct fixture *f, struct assay_store *s, const char *name, uint64_t started_ns)
{
	static const struct assay_frame frames[] = {
		{ .kind = ASSAY_FRAME_LABEL, .name = "phase: sample" },
		{ .name = "hot", .object = "a.so", .file = "a.c", .line = 7, .offset = UINT64_MAX },
	};
	struct assay_profile p = { .kind = "cpu",
				   .what = "op/ref/t=1/warm",
				   .is_case = true,
				   .unit = "samples",
				   .source = "a test",
				   .started_ns = started_ns,
				   .rate_hz = 997,
				   .seconds = 2.5,
				   .lost = 3,
				   .overhead_frac = NAN,
				   .timed_weight = 200,
				   .iteration_ns = 12.5,
				   .machine = { .id = "m5", .label = "machine five" },
				   .build = { .id = "b5", .commit = "1a2b", .compiler = "gcc", .flags = "-O2" } };
	uint32_t at[2];

	snprintf(p.name, sizeof(p.name), "%s", name);
	p.threads = calloc(1, sizeof(*p.threads));
	assert_non_null(p.threads);
	p.threads[p.n_threads++] = (struct assay_profile_thread){ "thread 1", 500 };
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(assay_stack_table_frame(&p.stacks, &frames[i], &at[i], NULL), 0);
	assert_int_equal(assay_stack_table_add(&p.stacks, at, 2, 200, NULL), 0);
	assert_int_equal(assay_stack_table_add(&p.stacks, at, 1, 299, NULL), 0);
	assert_int_equal(assay_stack_table_add(&p.stacks, at, 0, 1, NULL), 0);
	assert_ok(f, assay_store_profile_add(s, &p, &f->err));
	assert_true(p.id > 0);
	assay_profile_release(&p);
}

/* One of the heap, with a site that only allocated nothing, or of a GPU, whose driver tells little. */
static inline void add_numbers_profile(struct fixture *f, struct assay_store *s, bool heap, uint64_t started_ns)
{
	struct assay_profile p = { .name = "numbers",
				   .what = "./prog",
				   .source = "a test",
				   .started_ns = started_ns,
				   .seconds = 1,
				   .overhead_frac = NAN,
				   .iteration_ns = NAN,
				   .machine = { .id = "m5", .label = "machine five" } };
	uint32_t at;
	size_t stack;

	snprintf(p.kind, sizeof(p.kind), "%s", heap ? "heap" : "gpu");
	snprintf(p.unit, sizeof(p.unit), "%s", heap ? "bytes" : "ns");
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(
			assay_stack_table_frame(&p.stacks, &(struct assay_frame){ .name = i ? "b" : "a" }, &at, NULL),
			0);
		assert_int_equal(assay_stack_table_put(&p.stacks, &at, 1, &stack, NULL), 0);
	}
	if (heap) {
		p.heap = (struct assay_profile_heap){ .processes = 2,
						      .sample_bytes = 512,
						      .peak_clock = 7.5,
						      .all = { .blocks = 3, .bytes = 100.25, .largest_bytes = 80 },
						      .sites = calloc(2, sizeof(*p.heap.sites)) };
		assert_non_null(p.heap.sites);
		p.heap.sites[0] = (struct assay_profile_site){ .blocks = 1, .samples = 1 };
		p.heap.sites[1] = (struct assay_profile_site){ .blocks = 2, .bytes = 100.25, .live_bytes = 20 };
	} else {
		p.gpu = (struct assay_profile_gpu){ .devices = calloc(1, sizeof(*p.gpu.devices)),
						    .n_devices = 1,
						    .work = calloc(2, sizeof(*p.gpu.work)) };
		assert_true(p.gpu.devices && p.gpu.work);
		p.gpu.devices[0] = (struct assay_profile_gpu_device){ .index = 3,
								      .name = "GPU",
								      .busy_frac = 0,
								      .memory_busy_frac = NAN,
								      .mean_watts = 5,
								      .most_watts = NAN,
								      .joules = NAN,
								      .most_celsius = NAN };
		p.gpu.work[0] = (struct assay_profile_gpu_work){ .calls = 2, .occupancy_frac = 0.5, .blocks = 9 };
		p.gpu.work[1] = (struct assay_profile_gpu_work){ .calls = 1, .occupancy_frac = NAN, .bytes = 9 };
		p.stacks.stacks[0].weight = p.stacks.weight = 40;
	}
	assert_ok(f, assay_store_profile_add(s, &p, &f->err));
	assay_profile_release(&p);
}

#endif
