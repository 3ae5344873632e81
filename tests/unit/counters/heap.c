/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations of variants, counted by a worker with the heap's object preloaded, against variants that allocate known
 * amounts.
 */
#include "base/file.h"
#include "counters/heap/heap.h"
#include "counters/preloaded.h"
#include "measure/measure.h"
#include "unit.h"
#include "worker/inventory/inventory.h"
#include "worker/main.h"

static const char *const names[] = {
	"heap_allocations", "heap_bytes", "heap_peak_bytes", "heap_largest_bytes", "heap_leaked_bytes",
};
#define N_NAMES N_OF(names)

struct world {
	struct assay_topology *topology;
	struct assay_host_info host;
	struct assay_clock clock;
	struct assay_strings plugins, events;
	struct assay_inventory *inv;
};

static int set_up(void **state)
{
	static struct world w;
	struct assay_err err = { 0 };
	char dir[4096], path[8192];

	assert_int_equal(0, assay_file_exe_dir(dir, sizeof(dir), &err));
	snprintf(path, sizeof(path), "%s/plugins/counted_op.so", dir);
	assert_int_equal(0, assay_topology_open(&w.topology, NULL, &err));
	assert_int_equal(0, assay_clock_init(&w.clock, &err));
	assay_topology_host_info(w.topology, &w.host);
	assert_int_equal(0, assay_strings_add(&w.plugins, path, &err));
	for (size_t i = 0; i < N_NAMES; i++)
		assert_int_equal(0, assay_strings_add(&w.events, names[i], &err));
	if (assay_inventory_open(&w.inv, &w.plugins, NULL, &w.host, &err))
		fail_msg("%s", err.text);
	*state = &w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	assay_inventory_close(w->inv);
	assay_strings_release(&w->plugins);
	assay_strings_release(&w->events);
	assay_topology_close(w->topology);
	return 0;
}

static void measure(struct world *w, const char *variant, unsigned threads, struct assay_result *r)
{
	const struct assay_measure_options o = {
		.worker = { .settings.seed = 42,
			    .plugins = &w->plugins,
			    .topology = w->topology,
			    .host = &w->host,
			    .clock = &w->clock },
		.deterministic = true,
		.events = &w->events,
	};
	struct assay_case c = {
		.op = "heap.toy", .threads = threads, .budget_ns = 20000000, .timeout_ns = 60000000000
	};
	struct assay_case_facts facts;
	struct assay_err err = { 0 };

	snprintf(c.variant, sizeof(c.variant), "%s", variant);
	assert_int_equal(0, assay_case_make_key(&c, NULL));
	if (assay_inventory_describe(w->inv, &c, 1, &facts, &err) ||
	    assay_measure_case(&c, assay_inventory_catalog(w->inv), &facts, &o, r, &err))
		fail_msg("%s: %s", variant, err.text);
	if (r->status != ASSAY_STATUS_OK)
		fail_msg("%s: %s", variant, r->reason);
}

/* @want: as in names. */
static void check(struct world *w, const char *variant, unsigned threads, const double *want)
{
	struct assay_result r;

	measure(w, variant, threads, &r);
	for (size_t k = 0; k < N_NAMES; k++) {
		const struct assay_count *c = assay_counters_find(&r.counters, names[k]);

		if (!c)
			fail_msg("%s: %s was not counted", variant, names[k]);
		if (c->value != want[k])
			fail_msg("%s: %s is %g, expected %g", variant, names[k], c->value, want[k]);
		assert_string_equal(c->source, "heap");
		assert_int_equal(c->per_iteration, k < 2);
	}
	assay_result_release(&r);
}

TEST(test_counts)
{
	static const struct {
		const char *variant;
		double want[N_NAMES]; /* as in names */
	} cases[] = {
		{ "ref", { 0, 0, 0, 0, 0 } },
		{ "known", { 6, 1254, 2154, 1000, 0 } },
		{ "refused", { 1, 10, 10, 10, 0 } },
		{ "leaky", { 0, 0, 5096, 4096, 5096 } },
		{ "asks", { 1, 2048, 2048, 2048, 0 } },
		{ "keeps", { 1, 256, 300, 300, 0 } },
		{ "moves", { 2, 640, 512, 512, 0 } },
		{ "foreign", { 0, 0, 0, 0, 0 } },
		{ "many", { 5000, 120000, 120000, 24, 0 } },
	};
	struct world *w = *state;

	if (ASSAY_SANITIZED_HEAP)
		skip();
	for (size_t i = 0; i < N_OF(cases); i++)
		check(w, cases[i].variant, 1, cases[i].want);
}

/* Each of as many threads as there are cores holds 480 bytes, all at the same time. */
TEST(test_threads)
{
	struct world *w = *state;
	unsigned n = (unsigned)assay_placement_max(w->topology, &(struct assay_placement_options){ 0 });
	const double want[N_NAMES] = { 10.0 * n, 480.0 * n, 480.0 * n, 48, 0 };

	if (ASSAY_SANITIZED_HEAP)
		skip();
	check(w, "threads", n, want);
}

/* Allocations during samples are not counted, but releases are, so that nothing is called lost that was not. */
TEST(test_chain)
{
	struct world *w = *state;
	struct assay_result r;

	if (ASSAY_SANITIZED_HEAP)
		skip();
	measure(w, "hoards", 1, &r);
	assert_true(assay_counters_find(&r.counters, "heap_allocations")->value == 1);
	assert_true(assay_counters_find(&r.counters, "heap_leaked_bytes")->value == 0);
	/* the first run and those of the last check */
	assert_true(assay_counters_find(&r.counters, "heap_peak_bytes")->value == 6 * 64);
	assay_result_release(&r);
}

TEST(test_unavailable)
{
	struct world *w = *state;
	char path[ASSAY_PRELOADED_PATH_MAX];
	struct assay_err why = { 0 };
	struct assay_result r;

	if (!ASSAY_SANITIZED_HEAP) {
		assert_int_equal(0, assay_heap_library(path, sizeof(path), &why));
		skip();
	}
	assert_int_equal(ASSAY_EUNAVAILABLE, assay_heap_library(path, sizeof(path), &why));
	measure(w, "known", 1, &r);
	for (size_t k = 0; k < N_NAMES; k++) {
		const struct assay_unavailable *u = assay_counters_find_missing(&r.counters, names[k]);

		assert_non_null(u);
		assert_string_equal(u->reason, "a sanitizer stands before malloc: build without SANITIZE");
		assert_string_equal(u->source, "heap");
	}
	assay_result_release(&r);
}

TEST(test_wanted)
{
	assert_false(assay_heap_wanted(""));
	assert_false(assay_heap_wanted("minor_faults\tminor_faults\nheap_byte\theap_bytes_\n"));
	assert_true(assay_heap_wanted("minor_faults\tminor_faults\nheap_bytes\theap_bytes\n"));
	assert_true(assay_heap_wanted("leak\theap_leaked_bytes\n"));
}

static bool is_worker(int argc, char **argv, int *status)
{
	const bool is = assay_worker_is_command(argc, argv);

	if (is)
		*status = assay_worker_main(argc, argv);
	return is;
}

UNIT_GROUP_WITH(set_up, tear_down, NULL, is_worker)
