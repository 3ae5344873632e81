/* SPDX-License-Identifier: Apache-2.0 */
/* Files of models. Whatever is accepted lies within the file, and can be found and read. */
#include "fuzz.h"
#include "gguf/gguf.h"

static uint64_t sum;

/* Read it to its end, for sanitizers to see. */
static void within(const struct assay_gguf *g, const void *at, uint64_t bytes)
{
	const uint8_t *p = at;

	FUZZ_CHECK(p >= g->file && bytes <= g->size && (size_t)(p - g->file) <= g->size - bytes);
	for (uint64_t i = 0; i < bytes; i++)
		sum += p[i];
}

static void read_value(const struct assay_gguf *g, const struct assay_gguf_value *v)
{
	const uint8_t *at = v->at;

	within(g, v->key.s, v->key.len);
	within(g, v->at, v->bytes);
	for (uint64_t i = 0; i < v->n; i++) {
		if (v->kind == ASSAY_GGUF_STRING) {
			const struct assay_gguf_string s = assay_gguf_next_string(&at);

			within(g, s.s, s.len);
		} else {
			const double number = assay_gguf_number(v, i);

			sum += number > 0;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct assay_reason why = { "" };
	struct assay_gguf g;
	int64_t alignment = 32;

	if (assay_gguf_parse(&g, data, size, &why)) {
		FUZZ_CHECK(why.text[0] && !strchr(why.text, '\n'));
		return 0;
	}
	for (size_t i = 0; i < g.n_values; i++) {
		char *key = fuzz_string((const uint8_t *)g.values[i].key.s, g.values[i].key.len);

		FUZZ_CHECK(assay_gguf_value(&g, key) == &g.values[i]);
		read_value(&g, &g.values[i]);
		free(key);
	}
	for (size_t i = 0; i < g.n_tensors; i++) {
		within(&g, g.tensors[i].name.s, g.tensors[i].name.len);
		within(&g, g.tensors[i].data, g.tensors[i].bytes);
	}
	FUZZ_CHECK(assay_gguf_int(&g, "general.alignment", &alignment, &why) >= 0 && alignment == g.alignment);
	assay_gguf_close(&g);
	return 0;
}
