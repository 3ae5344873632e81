/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the inventory's child, a line each: about plugins and about cases. */
#include <jansson.h>

#include "fuzz.h"
#include "worker/inventory/inventory.h"

/* A child that talks nonsense is given up, and the plugin with it. */
static void check(int rc, const struct assay_err *err)
{
	fuzz_check_refusal(rc, err);
	FUZZ_CHECK(!rc || rc == ASSAY_EWORKER || rc == ASSAY_EPLUGIN);
}

/* The plugins that were described, as they are planned with. */
static void finish(struct assay_catalog *cat)
{
	FUZZ_CHECK(!assay_catalog_expand_composites(cat, NULL));
	FUZZ_CHECK(!assay_catalog_mark_unavailable(cat, NULL));
	for (size_t i = 0; i < cat->n_ops; i++)
		FUZZ_CHECK(assay_catalog_op(cat, cat->ops[i].name));
	for (size_t i = 0; i < cat->n_variants; i++)
		FUZZ_CHECK(assay_catalog_variant(cat, cat->variants[i].op, cat->variants[i].name));
}

/* False: nothing more is asked of this child. */
static bool take_line(struct assay_catalog *cat, const json_t *msg)
{
	struct assay_err err = { 0 };
	struct assay_case_facts facts;
	struct assay_catalog_plugin *p;
	int rc;

	if (json_object_get(msg, "supported")) {
		rc = assay_catalog_take_facts(msg, &facts, &err);
	} else {
		p = assay_catalog_grow((void **)&cat->plugins, &cat->n_plugins, sizeof(*p));
		FUZZ_CHECK(p);
		p->path = strdup("plugin.so");
		rc = assay_catalog_take_plugin(cat, cat->n_plugins - 1, msg, &err);
	}
	check(rc, &err);
	return rc != ASSAY_EWORKER;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct assay_catalog cat = { 0 };
	const uint8_t *end = data + size;
	bool sound = true;

	for (const uint8_t *line = data; line < end && sound;) {
		const uint8_t *nl = memchr(line, '\n', (size_t)(end - line));
		size_t len = (size_t)((nl ? nl : end) - line);
		json_t *msg = json_loadb((const char *)line, len, 0, NULL);

		line += len + 1;
		if (json_is_object(msg))
			sound = take_line(&cat, msg);
		json_decref(msg);
	}
	if (sound)
		finish(&cat);
	assay_catalog_release(&cat);
	return 0;
}
