/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of any bytes in BPE and SPM: what is encoded and decoded is the text again, and the pieces of each pre-tokenizer
 * follow each other from the beginning of the text to its end, those by PCRE2 and those by hand at the same places. An
 * input that begins with GGUF is a file, whose vocabulary has to be read or refused.
 */
#include "assay/unicode_classes.h"
#include "gguf/patterns.h"
#include "gguf/tokenizer.h"
#include "fuzz.h"

static void try_text(struct assay_tokenizer *t, const uint8_t *data, size_t size, bool special)
{
	const int64_t n = (int64_t)size;
	int32_t *ids = malloc((size_t)(assay_tokenizer_most_ids(t->v->model, n) + 1) * sizeof(*ids));
	uint8_t *back = malloc(size + 1);
	int64_t n_ids;
	int n_bytes = 0;

	FUZZ_CHECK(ids && back);
	n_ids = assay_tokenizer_encode(t, data, n, special, ids);
	FUZZ_CHECK(n_ids >= 0 && n_ids <= assay_tokenizer_most_ids(t->v->model, n));
	for (int i = 0; i < 256; i++)
		n_bytes += t->byte_ids[i] >= 0;
	/* SPM cannot tell its mark from a space, and bytes without a token are dropped */
	if (t->v->model == ASSAY_VOCAB_BPE && n_bytes == 256) {
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

/* ---- pieces ---- */

struct cut {
	const uint8_t *at;
	const struct assay_tokenizer *by_hand; /* NULL: this pre-tokenizer has no splitter */
	const uint8_t *end;
};

static int take_piece(void *arg, const uint8_t *s, int64_t n)
{
	struct cut *c = arg;

	FUZZ_CHECK(s == c->at && n > 0 && n <= c->end - s);
	if (c->by_hand)
		FUZZ_CHECK(assay_tokenizer_piece(c->by_hand, s, c->end - s) == n);
	c->at += n;
	return 0;
}

/* @by_hand has the splitters of the first pre-tokenizers. */
static void try_patterns(const struct assay_tokenizer *by_hand, const uint8_t *data, size_t size)
{
	static const char *const names[] = { "gpt-2",          "llama-bpe",    "qwen2",    "falcon",     "starcoder",
					     "default",        "deepseek-llm", "bloom",    "viking",     "tekken",
					     "deepseek-coder", "deepseek-v3",  "spark2_5", "gpt-4o",     "qwen35",
					     "jais-2",         "chameleon",    "laguna",   "bailingmoe", "seed-coder",
					     "ufakzeka",       "exaone-moe",   "minicpm5" };
	static struct assay_patterns *all[sizeof(names) / sizeof(names[0])];
	struct assay_reason why = { "" };
	const char *stays = NULL;
	bool settled = true; /* all are UTF-8, and of one class in all versions of Unicode */
	struct assay_gguf_string name;
	struct cut c;
	size_t i = 0;

	for (int64_t at = 0, len; at < (int64_t)size; at += len)
		settled &= assay_utf8(data + at, (int64_t)size - at, &len) < 0x250;
	/* one of them for each text, so that there is time for many texts */
	for (size_t at = 0; at < size; at++)
		i += data[at];
	i %= sizeof(names) / sizeof(names[0]);
	name = (struct assay_gguf_string){ names[i], strlen(names[i]) };
	if (!all[i])
		all[i] = assay_patterns_new(assay_pre_tokenizer_named(name, &stays)->pre, &why);
	if (!all[i])
		return; /* there is no PCRE2 */
	c = (struct cut){ data, i < ASSAY_N_PRES && settled ? &by_hand[i] : NULL, data + size };
	FUZZ_CHECK(!assay_patterns_split(all[i], data, (int64_t)size, take_piece, &c));
	FUZZ_CHECK(c.at == c.end);
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
	try_patterns(all, data, size);
	return 0;
}
