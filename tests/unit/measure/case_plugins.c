/* SPDX-License-Identifier: Apache-2.0 */
/* Which plugins a worker loads that counts one case. */
#include "unit.h"

#include "measure/case_needs.h"

static char files[][16] = { "accelerator.so", "library.so", "matrices.so", "ops.so" };
static char product[] = "product", model[] = "model", fast[] = "fast", bought[] = "bought";

TEST(a_case_loads_what_it_needs)
{
	static struct assay_catalog_plugin plugins[4];
	static struct assay_catalog_op ops[] = { { .name = product, .plugin = 3 },
						 { .name = model, .plugin = 3, .composes = product } };
	static struct assay_catalog_variant variants[] = {
		{ .op = product, .name = fast, .plugin = 2 },
		{ .op = product, .name = bought, .plugin = 1 },
		{ .op = model, .name = fast, .plugin = 3 },
	};
	const struct assay_catalog cat = { .plugins = plugins,
					   .n_plugins = N_OF(files),
					   .ops = ops,
					   .n_ops = N_OF(ops),
					   .variants = variants,
					   .n_variants = N_OF(variants) };
	char *const names[] = { files[0], files[1], files[2], files[3] };
	const struct assay_strings all = { (char **)names, N_OF(files) };
	static const struct {
		const char *op, *variant, *parts;
	} cases[] = {
		{ "product", "fast", "CD" },
		{ "product", "bought", "BD" },
		{ "model", "fast", "CD" },
		{ "product", "unknown", "ABCD" }, /* the worker says so */
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_case_plugins p;
		struct assay_case c = { .key = "" };

		snprintf(c.op, sizeof(c.op), "%s", cases[i].op);
		snprintf(c.variant, sizeof(c.variant), "%s", cases[i].variant);
		assert_int_equal(assay_case_plugins_find(&c, &cat, &all, "ABCD", &p, NULL), 0);
		assert_string_equal(p.parts, cases[i].parts);
		assert_int_equal(p.files.n, strlen(cases[i].parts));
		for (size_t k = 0; k < p.files.n; k++)
			assert_string_equal(p.files.v[k], files[cases[i].parts[k] - 'A']);
		assay_case_plugins_release(&p);
		assert_int_equal(assay_case_plugins_find(&c, &cat, &all, NULL, &p, NULL), 0);
		assert_null(p.parts);
		assert_int_equal(p.files.n, strlen(cases[i].parts));
		assay_case_plugins_release(&p);
	}
}

UNIT_GROUP(NULL, NULL)
