/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by tests of measuring: a machine, the example plugins and their inventory, and cases of example.scale. The
 * test program starts itself again as worker, as the real program does.
 */
#ifndef ASSAY_TESTS_MEASURE_WORLD_H
#define ASSAY_TESTS_MEASURE_WORLD_H

#include "unit.h"
#include "base/file.h"
#include "measure/measure.h"
#include "worker/inventory/inventory.h"
#include "worker/main.h"

struct world {
	char dir[4096]; /* where the test plugins are */
	struct assay_topology *topology;
	struct assay_clock clock;
	struct assay_host_info host;
	struct assay_strings plugins;
	struct assay_inventory *inv;
};

static inline void add_plugin(struct assay_strings *l, const char *dir, const char *name)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s/plugins/%s.so", dir, name);
	assert_int_equal(0, assay_strings_add(l, path, NULL));
}

static inline int set_up(void **state)
{
	static const char *const good[] = { "example_op", "example_variant", "bad_variants", "newer_minor",
					    "mock_device" };
	static struct world w;
	struct assay_err err = { 0 };

	assert_int_equal(0, assay_file_exe_dir(w.dir, sizeof(w.dir), &err));
	assert_int_equal(0, assay_topology_open(&w.topology, NULL, &err));
	assert_int_equal(0, assay_clock_init(&w.clock, &err));
	assay_topology_host_info(w.topology, &w.host);
	/* A virtual machine is told the whole of a cache that it shares; to fill twice as much takes long. */
	w.host.llc_bytes = 16u << 20;
	for (size_t i = 0; i < N_OF(good); i++)
		add_plugin(&w.plugins, w.dir, good[i]);
	if (assay_inventory_open(&w.inv, &w.plugins, NULL, &w.host, &err))
		fail_msg("%s", err.text);
	*state = &w;
	return 0;
}

static inline int tear_down(void **state)
{
	struct world *w = *state;

	assay_inventory_close(w->inv);
	assay_strings_release(&w->plugins);
	assay_topology_close(w->topology);
	return 0;
}

static inline struct assay_case make_case(const char *variant, int64_t n, unsigned threads, enum assay_cache cache)
{
	struct assay_case c = { .op = "example.scale",
				.n_axes = 1,
				.threads = threads,
				.cache = cache,
				.budget_ns = 20000000,
				.timeout_ns = 120000000000 };

	snprintf(c.variant, sizeof(c.variant), "%s", variant);
	c.axes[0] = (struct assay_axis_value){ .name = "n", .value = n };
	snprintf(c.axes[0].text, sizeof(c.axes[0].text), "%lld", (long long)n);
	assert_int_equal(0, assay_case_make_key(&c, NULL));
	return c;
}

/* The settings of its workers, which load @plugins. */
static inline struct assay_worker_setup setup_of(const struct world *w, const struct assay_strings *plugins)
{
	return (struct assay_worker_setup){
		.settings.seed = 42, .plugins = plugins, .topology = w->topology, .host = &w->host, .clock = &w->clock
	};
}

static inline void measure_with(struct world *w, const struct assay_case *c, bool deterministic, struct assay_result *r)
{
	const struct assay_measure_options o = { .worker = setup_of(w, &w->plugins), .deterministic = deterministic };
	struct assay_case_facts facts;
	struct assay_err err = { 0 };

	if (assay_inventory_describe(w->inv, c, 1, &facts, &err) ||
	    assay_measure_case(c, assay_inventory_catalog(w->inv), &facts, &o, r, &err))
		fail_msg("%s", err.text);
}

static inline bool world_is_worker(int argc, char **argv, int *status)
{
	const bool is = assay_worker_is_command(argc, argv);

	if (is)
		*status = assay_worker_main(argc, argv);
	return is;
}

/* Ends a file: all tests in a world, whose workers are this program started again. */
#define MEASURE_GROUP UNIT_GROUP_WITH(set_up, tear_down, NULL, world_is_worker)

#endif
