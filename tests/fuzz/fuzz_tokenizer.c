/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of any bytes in BPE and SPM: what is encoded and decoded is the text again. An input that begins with GGUF is a
 * file, whose vocabulary has to be read or refused.
 */
#include "gguf/tokenizer.h"
#include "fuzz.h"

static void try_text(struct assay_tokenizer *t, const uint8_t *data, size_t size, bool special)
{
	const int64_t n = (int64_t)size;
	int32_t *ids = malloc((size_t)(assay_tokenizer_most_ids(t->v->model, n) + 1) * sizeof(*ids));
	uint8_t *back = malloc(size + 1);
	int64_t n_ids;

	FUZZ_CHECK(ids && back);
	n_ids = assay_tokenizer_encode(t, data, n, special, ids);
	FUZZ_CHECK(n_ids >= 0 && n_ids <= assay_tokenizer_most_ids(t->v->model, n));
	/* SPM cannot tell its mark from a space */
	if (t->v->model == ASSAY_VOCAB_BPE && t->v->n_tokens > 256) {
		FUZZ_CHECK(assay_tokenizer_decode(t, ids, n_ids, true, back, n) == n);
		FUZZ_CHECK(!memcmp(back, data, size));
	}
	for (int64_t at = 0, len; at < n; at += len) {
		len = assay_tokenizer_piece(t, data + at, n - at);
		FUZZ_CHECK(len > 0 && len <= n - at);
	}
	free(ids);
	free(back);
}

static void try_file(const uint8_t *data, size_t size)
{
	struct assay_reason why = { "" };
	struct assay_gguf g;
	struct tokenizer_vocab v;
	struct assay_tokenizer t;

	if (assay_gguf_parse(&g, data, size, &why))
		return;
	if (!assay_vocab_read(&v, &g, &why)) {
		if (!assay_tokenizer_init(&t, &v.v, &why)) {
			try_text(&t, data, size, true);
			assay_tokenizer_release(&t);
		}
		assay_vocab_release(&v);
	}
	assay_gguf_close(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char lesson[] =
		"the then <s> they're 123 456\n\n  int main(void)\n{\n\treturn '\xd0\xb4\xd0\xb0';\n}\n"
		"the then they're 123 456\n\n  int main(void)\n{\n\treturn '\xd0\xb4\xd0\xb0';\n}\n";
	static struct tokenizer_vocab vocabs[ASSAY_N_PRES + 1];
	static struct assay_tokenizer all[ASSAY_N_PRES + 1];
	struct assay_reason why;

	if (size >= 4 && !memcmp(data, "GGUF", 4)) {
		try_file(data, size);
		return 0;
	}
	for (int i = 0; i <= ASSAY_N_PRES; i++) {
		if (!all[i].v) {
			FUZZ_CHECK(!assay_vocab_train(&vocabs[i], i, 290, (const uint8_t *)lesson, sizeof(lesson) - 1,
						      &why));
			FUZZ_CHECK(!assay_tokenizer_init(&all[i], &vocabs[i].v, &why));
		}
		try_text(&all[i], data, size, false);
		try_text(&all[i], data, size, true);
	}
	return 0;
}
