/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration files: whatever the text, a tree or one line. */
#include "fuzz.h"
#include "base/conf.h"

static const struct assay_conf_option options[] = { { "value", false }, { "list", true }, { NULL, false } };
static const struct assay_conf_grammar inner[] = { { "inner", true, options, NULL }, { NULL, false, NULL, NULL } };
static const struct assay_conf_grammar outer[] = { { "outer", true, options, inner },
						   { "plain", false, options, NULL },
						   { NULL, false, NULL, NULL } };
static const struct assay_conf_grammar root = { NULL, false, options, outer };

static size_t walk(const struct assay_conf_section *s)
{
	size_t bytes = s->title ? strlen(s->title) : 0;

	for (size_t i = 0; i < s->n_entries; i++) {
		FUZZ_CHECK(s->entries[i].n && assay_conf_entry(s, s->entries[i].name));
		for (size_t k = 0; k < s->entries[i].n; k++)
			bytes += strlen(s->entries[i].values[k].text);
	}
	for (size_t i = 0; i < s->n_sections; i++)
		bytes += walk(&s->sections[i]);
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct assay_conf conf;
	struct assay_err err = { 0 };
	int rc;

	fuzz_write("input.conf", data, size);
	rc = assay_conf_load(&conf, "input.conf", &root, &err);
	fuzz_check_refusal(rc, &err);
	if (rc)
		return 0;
	FUZZ_CHECK(walk(&conf.root) <= size);
	assay_conf_release(&conf);
	return 0;
}
