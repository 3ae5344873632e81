/* SPDX-License-Identifier: Apache-2.0 */
/* What the inventory says of plugins: good ones, refused ones, and the facts of their cases. */
#include "measure_world.h"

TEST(inventory_describes)
{
	struct world *w = *state;
	const struct assay_catalog *cat = assay_inventory_catalog(w->inv);
	const struct assay_catalog_op *op = assay_catalog_op(cat, "example.scale");
	const struct assay_catalog_variant *v;

	assert_int_equal(6, cat->n_plugins);
	for (size_t i = 0; i < cat->n_plugins; i++)
		assert_null(cat->plugins[i].error);
	assert_string_equal("example-op", cat->plugins[0].name);
	assert_int_equal(40, strlen(cat->plugins[0].build_id));
	assert_non_null(op);
	assert_true(op->exact);
	assert_int_equal(1, op->n_axes);
	assert_string_equal("n", op->axes[0].name);
	assert_int_equal(4, op->axes[0].min);
	assert_true(op->axes[0].def == INT64_MIN);
	assert_int_equal(1, op->n_metrics);
	assert_string_equal("example_last", op->metrics[0].tag);
	assert_true(op->metrics[0].hi == 4e9);
	assert_int_equal(1, op->counters.n);

	v = assay_catalog_variant(cat, "example.scale", "ref");
	assert_non_null(v);
	assert_true(v->reference);
	assert_null(v->unavailable);
	assert_true(assay_catalog_variant(cat, "example.scale", "doubled")->one_thread);
	assert_string_equal("this CPU has no avx9001",
			    assay_catalog_variant(cat, "example.scale", "needy")->unavailable);
	assert_non_null(strstr(assay_catalog_variant(cat, "example.scale", "on_gpu")->unavailable, "no plugin brings"));
	assert_null(assay_catalog_variant(cat, "example.scale", "mock")->unavailable);
	assert_null(assay_catalog_variant(cat, "example.scale", "newer_b")->unavailable);
}

TEST(inventory_refuses_bad_plugins)
{
	static const struct {
		const char *plugin, *reason;
	} cases[] = {
		{ "bad_abi_older", "was built for plugin ABI 0.9, this program takes 1.x (1.3)" },
		{ "bad_abi_newer", "was built for plugin ABI 2.0, this program takes 1.x (1.3)" },
		{ "bad_no_symbol", "no symbol 'assay_plugin_v1'" },
		{ "bad_magic", "has magic 0xdeadbeef, expected 0x59415341" },
		{ "bad_measures", "op 'bad.measures'" },
		{ "bad_null_run", "variant 'null' of op 'example.scale'" },
		{ "bad_load_crash", "signal 11" },
		{ "not_there", "not_there.so'" },
	};
	struct world *w = *state;
	struct assay_strings plugins = { 0 };
	const struct assay_catalog *cat;
	struct assay_inventory *inv;

	add_plugin(&plugins, w->dir, "example_op");
	for (size_t i = 0; i < N_OF(cases); i++)
		add_plugin(&plugins, w->dir, cases[i].plugin);
	add_plugin(&plugins, w->dir, "example_variant");
	assert_int_equal(0, assay_inventory_open(&inv, &plugins, NULL, &w->host, NULL));
	cat = assay_inventory_catalog(inv);
	assert_int_equal(N_OF(cases) + 2, cat->n_plugins);
	for (size_t i = 0; i < N_OF(cases); i++) {
		const char *error = cat->plugins[i + 1].error;

		if (!error || !strstr(error, cases[i].reason))
			fail_msg("%s: '%s' does not say '%s'", cases[i].plugin, error ? error : "(loaded)",
				 cases[i].reason);
	}
	/* what is good is there all the same, before and after the bad ones */
	assert_non_null(assay_catalog_op(cat, "example.scale"));
	assert_non_null(assay_catalog_variant(cat, "example.scale", "doubled"));
	assert_null(assay_catalog_variant(cat, "example.scale", "null"));
	assay_inventory_close(inv);
	assay_strings_release(&plugins);
}

TEST(describe_gives_facts)
{
	struct world *w = *state;
	struct assay_case warm = make_case("ref", 1024, 1, ASSAY_CACHE_WARM),
			  cold = make_case("ref", 65536, 1, ASSAY_CACHE_COLD);
	struct assay_case tiny = make_case("ref", 4, 1, ASSAY_CACHE_COLD);
	struct assay_case odd = make_case("ref", 1022, 1, ASSAY_CACHE_WARM),
			  refused = make_case("refuses", 64, 1, ASSAY_CACHE_WARM);
	struct assay_case_facts f;
	struct assay_err err = { 0 };

	assert_int_equal(0, assay_inventory_describe(w->inv, &warm, 1, &f, &err));
	assert_true(f.supported);
	assert_true(f.cost.ops == 2048 && f.cost.bytes_read == 4096 && f.cost.items == 1024);
	assert_string_equal("elements", f.item_name);
	assert_int_equal(8192, f.tensor_bytes);
	assert_int_equal(1, f.copies);
	assert_int_equal(0, assay_inventory_describe(w->inv, &cold, 1, &f, &err));
	assert_true(f.copies * 262144 > 2 * w->host.llc_bytes && (f.copies - 1) * 262144 <= 2 * w->host.llc_bytes);
	assert_true(f.timed);
	/* too small to be cold beside the caches of most machines, but not to be counted */
	assert_int_equal(0, assay_inventory_describe(w->inv, &tiny, 1, &f, &err));
	assert_true(f.supported);
	assert_int_equal(2 * w->host.llc_bytes / 16 + 1, f.copies);
	assert_true(f.bytes >=
		    f.copies * (2 * 128 + sizeof(struct assay_job))); /* each tensor of 16 bytes with its canary */
	assert_int_equal(f.copies <= 1 << 20, f.timed);
	assert_true(f.timed == !strstr(f.reason, "so small that it needs"));
	assert_int_equal(ASSAY_EUSAGE, assay_inventory_describe(w->inv, &odd, 1, &f, &err));
	assert_non_null(strstr(err.text, "n is 1022, expected a multiple of 4"));
	assert_int_equal(0, assay_inventory_describe(w->inv, &refused, 1, &f, &err));
	assert_false(f.supported || f.timed);
	assert_string_equal("cannot do 64 elements", f.reason);
}

MEASURE_MAIN
