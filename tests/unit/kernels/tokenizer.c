/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokenizer.*: the plain tokenizer against merges by hand and against PCRE2 as a splitter, the fast one against the
 * plain one, both on random text; counters; and files whose vocabulary cannot be used.
 */
#include "mini_host.h"

#include "assay/op_tokenizer.h"
#include "bench/tokenizer/random_chars.h"
#include "bench/tokenizer_ops.h"
#include "gguf/patterns.h"

static const char *const names[] = { "gpt-2", "llama-bpe", "qwen2" };

/* ---- random text ---- */

/* Characters that no version of Unicode in use classes otherwise, and what the patterns look for. */
static size_t random_text(struct draws *d, uint8_t *out, size_t size, bool broken)
{
	static const uint32_t ranges[][2] = {
		{ 0x20, 0x7e },     { 0x9, 0xd },       { 0x61, 0x6a },     { 0x30, 0x39 },       { 0xa0, 0x24f },
		{ 0x391, 0x3a1 },   { 0x400, 0x4ff },   { 0x621, 0x64a },   { 0x660, 0x669 },     { 0x2000, 0x200d },
		{ 0x2028, 0x202f }, { 0x2150, 0x2188 }, { 0x3000, 0x3000 }, { 0x3041, 0x3096 },   { 0x4e00, 0x9fa5 },
		{ 0xac00, 0xd7a3 }, { 0x180e, 0x180e }, { 0x85, 0x85 },     { 0x1f600, 0x1f64f }, { 0x20000, 0x2a6d6 },
	};
	static const char *const words[] = { "'s",   "'LL", "'re",  "'Ve",   " ",           "  ",
					     "\r\n", "\n",  " the", "12345", "\xe2\x96\x81" };
	size_t n = 0;

	while (n + 8 < size) {
		const uint32_t k = below(d, 40);
		const uint32_t *r = ranges[k % N_OF(ranges)];

		if (k < N_OF(words)) {
			memcpy(out + n, words[k], strlen(words[k]));
			n += strlen(words[k]);
		} else if (broken && k < 14) {
			out[n++] = (uint8_t)(0x80 + below(d, 0x80));
		} else {
			n += put_char(out + n, r[0] + below(d, r[1] - r[0] + 1));
		}
	}
	return n;
}

/* ---- by hand ---- */

static size_t merge_by_hand(const struct assay_tokenizer *t, const uint8_t *s, size_t n, int32_t *ids)
{
	const struct assay_vocab *v = t->v;

	if (v->whole_words && assay_tokenizer_find(t, s, (int64_t)n) >= 0) {
		ids[0] = assay_tokenizer_find(t, s, (int64_t)n);
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		ids[i] = t->byte_ids[s[i]];
	for (;;) {
		int32_t least = v->n_merges;
		size_t at = 0;

		for (size_t i = 0; i + 1 < n; i++)
			for (int32_t r = 0; r < least; r++)
				if (v->merges[r][0] == ids[i] && v->merges[r][1] == ids[i + 1]) {
					least = r;
					at = i;
				}
		if (least == v->n_merges)
			return n;
		ids[at] = v->merges[least][2];
		memmove(ids + at + 1, ids + at + 2, (n - at - 2) * sizeof(ids[0]));
		n--;
	}
}

static struct mini_case *new_case(const char *direction, const char *variant, const char *shape)
{
	char op[64];
	struct mini_case *c;

	snprintf(op, sizeof(op), "tokenizer.%s", direction);
	c = mini_new(op, variant, shape, &(struct mini_options){ .seed = 42 });
	mini_fill(c);
	return c;
}

static const struct assay_vocab *vocab_of(const struct mini_case *c)
{
	return ((const struct assay_tokenizer_state *)c->job.op_state)->vocab;
}

struct ends {
	const uint8_t *ends[80];
	size_t n;
};

static int add_end(void *arg, const uint8_t *s, int64_t n)
{
	struct ends *e = arg;

	e->ends[e->n++] = s + n;
	return 0;
}

TEST(test_random_strings)
{
	for (size_t k = 0; k < N_OF(names); k++) {
		char shape[64];
		struct mini_case *c;
		struct assay_tokenizer t;
		struct assay_reason why = { "" };
		struct draws d = { .seed = 7 + k };
		struct assay_patterns *p = assay_patterns_new((uint32_t)k, &why);

		snprintf(shape, sizeof(shape), "vocab=%s,tokens=700,bytes=1", names[k]);
		c = new_case("encode", "ref", shape);
		assert_int_equal(assay_tokenizer_init(&t, vocab_of(c), &why), 0);
		for (int round = 0; round < 2000; round++) {
			uint8_t s[72];
			int32_t got[72], want[72];
			size_t n = random_text(&d, s, 16 + below(&d, 56), false), n_want = 0, len;
			int64_t n_got = assay_tokenizer_encode(&t, s, (int64_t)n, false, got);

			struct ends by_patterns = { .n = 0 };

			assert_int_equal(p ? assay_patterns_split(p, s, (int64_t)n, add_end, &by_patterns) : 0, 0);
			for (size_t at = 0, piece = 0; at < n; at += len, piece++) {
				len = (size_t)assay_tokenizer_piece(&t, s + at, (int64_t)(n - at));
				if (p && s + at + len != by_patterns.ends[piece])
					fail_msg("%s, round %d, byte %zu: %zu bytes, PCRE2 has %td", names[k], round,
						 at, len, by_patterns.ends[piece] - s - (ptrdiff_t)at);
				n_want += merge_by_hand(&t, s + at, len, want + n_want);
			}
			assert_int_equal(n_got, n_want);
			assert_memory_equal(got, want, n_want * sizeof(want[0]));
		}
		assay_patterns_free(p);
		assay_tokenizer_release(&t);
		mini_free(c);
	}
}

/* The ids of a case have to be those that the plain tokenizer has for its text. */
static void assert_plain_ids(struct mini_case *c)
{
	const struct assay_tensor *text = &c->tensors[ASSAY_TOKENIZER_TEXT];
	const int32_t *got = c->tensors[ASSAY_TOKENIZER_IDS].data;
	int32_t *want = malloc(c->tensors[ASSAY_TOKENIZER_IDS].bytes);
	struct assay_tokenizer t;
	struct assay_reason why;
	int64_t n;

	mini_run(c);
	assert_non_null(want);
	assert_int_equal(assay_tokenizer_init(&t, vocab_of(c), &why), 0);
	n = assay_tokenizer_encode(&t, text->data, (int64_t)text->bytes, false, want);
	assert_int_equal(*(int64_t *)c->tensors[ASSAY_TOKENIZER_COUNT].data, n);
	assert_memory_equal(got, want, (size_t)n * sizeof(want[0]));
	assay_tokenizer_release(&t);
	free(want);
}

/* Fill @n bytes: also with bytes that are not UTF-8, or with one piece of few letters or of many. */
static void fill_by_round(int round, uint8_t *text, size_t n)
{
	struct draws d = { .seed = (uint64_t)round };
	size_t k;

	if (round < 8) {
		k = random_text(&d, text, n, round % 2);
		memset(text + k, ' ', n - k);
		return;
	}
	for (k = 0; k < n; k++)
		text[k] = (uint8_t)('a' + below(&d, round < 10 ? 2 : 26));
}

TEST(test_variants_agree)
{
	static const char *const caches[] = { "cold", "warm" };

	for (size_t k = 0; k < 2 * (ASSAY_N_PRES + 1); k++)
		for (int round = 0; round < 12; round++) {
			char shape[96];
			struct mini_case *c;

			snprintf(shape, sizeof(shape), "vocab=%s,tokens=2000,bytes=3000,slots=64,cache=%s",
				 assay_vocab_names[k / 2], caches[k % 2]);
			c = new_case("encode", "ours", shape);
			fill_by_round(round, c->tensors[ASSAY_TOKENIZER_TEXT].data, 3000);
			assert_plain_ids(c);
			assert_plain_ids(c);
			mini_free(c);
		}
}

/*
 * Vocabularies of SPM that training does not make: tokens that share a score, and one with a space inside, which texts
 * may not be cut at then.
 */
TEST(test_other_spm)
{
	for (int round = 0; round < 12; round++)
		for (int space = 0; space < 2; space++) {
			struct mini_case *c = new_case("encode", "ours", "vocab=spm,tokens=2000,bytes=3000");
			const struct assay_vocab *v = vocab_of(c);
			int64_t changed = 0;

			for (int32_t i = 0; i < v->n_tokens; i++) {
				uint8_t *s = (uint8_t *)v->bytes + v->starts[i];

				((float *)v->scores)[i] = (float)(i % 3);
				if (!space || v->starts[i + 1] - v->starts[i] != 5 || memchr(s, 0xe2, 5))
					continue;
				memcpy(s + 1, "\xe2\x96\x81", 3);
				changed++;
			}
			assert_int_equal(space, changed > 0);
			fill_by_round(round, c->tensors[ASSAY_TOKENIZER_TEXT].data, 3000);
			assert_plain_ids(c);
			mini_free(c);
		}
}

TEST(test_round_trips)
{
	static const char *const corpora[] = { "text", "code", "digits", "scripts", "letter" };
	static const char *const variants[] = { "ref", "ours" };

	for (size_t k = 0; k < N_OF(corpora); k++)
		for (size_t v = 0; v < N_OF(variants); v++)
			for (size_t i = 0; i < 2; i++) {
				struct mini_case *c;
				char shape[96];

				snprintf(shape, sizeof(shape), "vocab=%s,tokens=4000,bytes=20000,corpus=%s",
					 i ? "spm" : "llama-bpe", corpora[k]);
				c = new_case("decode", variants[v], shape);
				mini_run(c);
				mini_check(c);
				mini_report(c);
				assert_true(mini_metric(c, "bytes_per_token") > 1);
				mini_free(c);
				c = new_case("encode", variants[v], shape);
				mini_run(c);
				mini_check(c);
				mini_free(c);
			}
}

TEST(test_oracle)
{
	struct mini_case *c = new_case("encode", "ours", "corpus=code,bytes=3000");
	int32_t *ids = c->tensors[ASSAY_TOKENIZER_IDS].data;
	int64_t *count = c->tensors[ASSAY_TOKENIZER_COUNT].data;
	struct assay_check out;

	mini_run(c);
	ids[77] ^= 1;
	out = mini_try_check(c);
	assert_int_equal(out.correct, 0);
	assert_int_equal(out.first_bad, 77);
	assert_string_equal(out.tensor, "ids");
	ids[77] ^= 1;
	mini_check(c);
	--*count;
	out = mini_try_check(c);
	assert_int_equal(out.correct, 0);
	assert_string_equal(out.tensor, "count");
	mini_free(c);

	c = new_case("decode", "ours", "corpus=code,bytes=3000");
	mini_run(c);
	((uint8_t *)c->tensors[ASSAY_TOKENIZER_TEXT].data)[2999] ^= 1;
	assert_int_equal(mini_try_check(c).first_bad, 2999);
	mini_free(c);
}

/* ---- pre-tokenizers ---- */

struct joined {
	char s[512];
	size_t n;
};

static int join(void *arg, const uint8_t *s, int64_t n)
{
	struct joined *j = arg;

	memcpy(j->s + j->n, s, (size_t)n);
	j->n += (size_t)n;
	j->s[j->n++] = '|';
	return 0;
}

/* Pieces whose ids were found to be those of llama.cpp on random strings: bench/llama_tokens.sh. */
TEST(test_patterns)
{
	static const char text[] = "I'LL pay $1234567, or camelCase's?\n\n   \xc3\x9c"
				   "ber+ e\xcc\x81 \xe4\xbd\xa0\xe5\xa5\xbd 42\xe3\x80\x82/\r\n\t(a b)\n\xff x   ";
	static const struct {
		const char *name, *pieces;
	} cases[] = {
		{ "gpt-2",
		  "I|'|LL| pay| $|1234567|,| or| camelCase|'s|?|\n\n  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| 42|\xe3\x80\x82/|\r\n|\t|(|a| b|)|\n|\xff| x|   |" },
		{ "llama-bpe",
		  "I|'LL| pay| $|123|456|7|,| or| camelCase|'s|?\n\n|  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |42|\xe3\x80\x82/\r\n|\t|(a| b|)\n|\xff| x|   |" },
		{ "qwen2",
		  "I|'LL| pay| $|1|2|3|4|5|6|7|,| or| camelCase|'s|?\n\n|  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82/\r\n|\t|(a| b|)\n|\xff| x|   |" },
		{ "falcon",
		  "I|'|LL| pay| |$|123|456|7|,| or| camelCase|'|s|?|\n\n  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| 42|\xe3\x80\x82/|\r\n\t|(|a| b|)|\n|\xff| x|   |" },
		{ "starcoder",
		  "I|'|LL| pay| $|1|2|3|4|5|6|7|,| or| camelCase|'s|?|\n\n  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82/|\r\n|\t|(|a| b|)|\n|\xff| x|   |" },
		{ "default",
		  "I|'|LL| pay| |$|123|456|7|,| or| camelCase|'|s|?|\n\n  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |42|\xe3\x80\x82/|\r\n\t|(|a| b|)|\n|\xff| x|   |" },
		{ "deepseek-llm", "I|'|LL| pay| $|1234567|,| or| camelCase|'|s|?|\n|\n|  | \xc3\x9c|ber|+| e|\xcc\x81 "
				  "|\xe4\xbd\xa0\xe5\xa5\xbd| |42|\xe3\x80\x82|/|\r|\n|\t(|a| b|)|\n|\xff| x|   |" },
		{ "deepseek-coder", "I|'|LL| pay| $|1|2|3|4|5|6|7|,| or| camelCase|'|s|?|\n|\n|  | \xc3\x9c"
				    "ber|+| e|\xcc\x81| |\xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82|/|\r|\n|\t(|a| "
				    "b|)|\n|\xff| x|   |" },
		{ "deepseek-v3",
		  "I|'LL| pay| $|123|456|7|,| or| camelCase|'s|?\n\n|  | \xc3\x9c"
		  "ber|+| e\xcc\x81| |\xe4\xbd\xa0\xe5\xa5\xbd| |42|\xe3\x80\x82/\r\n|\t|(a| b|)\n|\xff| x|   |" },
		{ "spark2_5",
		  "I|'LL| pay| $|1|2|3|4|5|6|7|,| or| camelCase|'s|?|\n|\n|  | \xc3\x9c"
		  "ber|+| e\xcc\x81| |\xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82/|\r|\n|\t|(a| b|)|\n|\xff| x|   |" },
		{ "bloom",
		  "I'LL| pay| $1234567|,| or| camelCase's|?\n\n  | \xc3\x9c"
		  "ber+| e\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| 42|\xe3\x80\x82|/|\r\n\t(|a| b|)\n|\xff| x|   |" },
		{ "viking",
		  "I'LL| pay| $|1|2|3|4|5|6|7|,| or| camelCase's|?\n\n  | \xc3\x9c"
		  "ber+| e\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82|/|\r\n\t(|a| b|)\n|\xff| x|   |" },
		{ "tekken",
		  "I|'LL| pay| $|1|2|3|4|5|6|7|,| or| camel|Case|'s|?\n\n|  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82/\r\n|\t|(a| b|)\n|\xff| x|   |" },
		{ "gpt-4o",
		  "I'LL| pay| $|123|456|7|,| or| camel|Case's|?\n\n|  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |42|\xe3\x80\x82/\r\n|\t|(a| b|)\n|\xff| x|   |" },
		{ "qwen35",
		  "I|'LL| pay| $|1|2|3|4|5|6|7|,| or| camelCase|'s|?\n\n|  | \xc3\x9c"
		  "ber|+| e\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82/\r\n|\t|(a| b|)\n|\xff| x|   |" },
		{ "jais-2",
		  "I|'LL| pay| $|123|456|7|,| or| camelCase|'s|?\n\n|  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |42|\xe3\x80\x82/\r\n|\t|(a| b|)\n|\xff| x|  | |" },
		{ "chameleon", "I|'|LL| pay| |$|1|2|3|4|5|6|7|,| or| camelCase|'|s|?|\n|\n|  | \xc3\x9c"
			       "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82|/|\r|\n|\t|(|a| "
			       "b|)|\n|\xff| x|  | |" },
		{ "bailingmoe",
		  "I|'LL| pay| $|1|2|3|4|5|6|7|,| or| camelCase|'s|?\n\n|  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82/\r\n|\t|(a| b|)\n|\xff| x|   |" },
		{ "seed-coder",
		  "I|'LL| pay| $|1|2|3|4|5|6|7|,| or| camelCase|'s|?|\n\n|  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82/|\r\n|\t|(a| b|)|\n|\xff| x|   |" },
		{ "ufakzeka",
		  "I|'LL| pay| $|1|2|3|4|5|6|7|,| or| camelCase|'s|?\n\n|  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82/\r\n|\t|(a| b|)\n|\xff| x|   |" },
		{ "laguna",
		  "I|'LL| pay| $|1|2|3|4|5|6|7|,| or| camelCase|'s|?|\n\n|  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82/\r|\n|\t|(a| b|)|\n|\xff| x|   |" },
		{ "exaone-moe",
		  "I|'LL| pay| $|1|2|3|4|5|6|7|,| or camelCase|'s|?\n|\n|  | \xc3\x9c"
		  "ber|+| e\xcc\x81 \xe4\xbd\xa0\xe5\xa5\xbd| |4|2|\xe3\x80\x82/\r|\n|\t|(a b|)\n|\xff| x|   |" },
		{ "minicpm5",
		  "I|'LL| pay| $|123|456|7|,| or| camelCase|'s|?\n\n|  | \xc3\x9c"
		  "ber|+| e|\xcc\x81| \xe4\xbd\xa0\xe5\xa5\xbd| |42|\xe3\x80\x82/\r\n|\t|(a| b|)\n|\xff| x|   |" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct assay_gguf_string name = { cases[i].name, strlen(cases[i].name) };
		const char *stays = NULL;
		const struct assay_pre_tokenizer *known = assay_pre_tokenizer_named(name, &stays);
		struct assay_reason why = { "" };
		struct joined j = { .n = 0 };
		struct assay_patterns *p;

		assert_non_null(known);
		p = assay_patterns_new(known->pre, &why);
		if (!p)
			skip();
		assert_int_equal(assay_patterns_split(p, (const uint8_t *)text, sizeof(text) - 1, join, &j), 0);
		if (strcmp(j.s, cases[i].pieces) != 0)
			fail_msg("%s: %s", cases[i].name, j.s);
		assay_patterns_free(p);
	}
}

/* jais-2 cuts long runs of spaces, unless a new line ends them, which may follow a piece that itself ends with one. */
TEST(test_runs_of_spaces)
{
	static const int64_t pieces[] = { 601, 512, 64, 16, 4, 2, 1, 3, 5, 512, 64, 16, 8 };
	const char *stays = NULL;
	struct assay_reason why = { "" };
	struct ends e = { .n = 0 };
	struct assay_patterns *p = assay_patterns_new(
		assay_pre_tokenizer_named((struct assay_gguf_string){ "jais-2", 6 }, &stays)->pre, &why);
	char text[2000];
	const int n = snprintf(text, sizeof(text), "%600s\n%600s!\n%4s\n%600s", "", "", "", "");
	const uint8_t *at = (const uint8_t *)text;

	if (!p)
		skip();
	assert_int_equal(assay_patterns_split(p, at, n, add_end, &e), 0);
	assert_int_equal(e.n, N_OF(pieces));
	for (size_t i = 0; i < e.n; at = e.ends[i++])
		assert_int_equal(e.ends[i] - at, pieces[i]);
	assay_patterns_free(p);
}

/* ---- files ---- */

static uint8_t file[1 << 16];
static size_t file_n;

static void put(const void *data, size_t n)
{
	memcpy(file + file_n, data, n);
	file_n += n;
}

static void put_string(const char *s)
{
	const uint64_t n = strlen(s);

	put(&n, 8);
	put(s, n);
}

/* Begin a file of @n values; all are strings or arrays of strings. */
static void begin_file(uint64_t n)
{
	const uint32_t version = 3;
	const uint64_t none = 0;

	file_n = 0;
	put("GGUF", 4);
	put(&version, 4);
	put(&none, 8);
	put(&n, 8);
}

static void put_text(const char *key, const char *value)
{
	const uint32_t kind = ASSAY_GGUF_STRING;

	put_string(key);
	put(&kind, 4);
	put_string(value);
}

static void put_array(const char *key, uint64_t n)
{
	const uint32_t kinds[2] = { ASSAY_GGUF_ARRAY, ASSAY_GGUF_STRING };

	put_string(key);
	put(kinds, 8);
	put(&n, 8);
}

/* A character for each byte, "ab", and what is given. */
static void put_tokens(bool all, const char *last)
{
	put_array("tokenizer.ggml.tokens", all ? 258 : 257);
	for (uint32_t b = 0, next = 256; b < (all ? 256 : 255); b++) {
		const bool itself = (b > 32 && b < 127) || (b > 160 && b != 173);
		char name[8] = { 0 };

		put_char((uint8_t *)name, itself ? b : next++);
		put_string(name);
	}
	put_string("ab");
	put_string(last);
}

static int try_file(struct tokenizer_vocab *v, struct assay_reason *why)
{
	struct assay_gguf g;
	int rc;

	assert_int_equal(assay_gguf_parse(&g, file, file_n, why), 0);
	rc = assay_vocab_read(v, &g, why);
	assay_gguf_close(&g);
	return rc;
}

TEST(test_files)
{
	static const struct {
		const char *model, *pre, *merge, *why;
		bool all;
	} files[] = {
		{ "gpt2", "gpt-2", "a b", NULL, true },
		{ "gpt2", NULL, "a b",
		  "the file does not name its pre-tokenizer (tokenizer.ggml.pre), without which its ids would be a "
		  "guess",
		  true },
		{ "gpt2", "none", "a b",
		  "tokenizer.ggml.pre is 'none', which is no pre-tokenizer that assay knows, such as gpt-2, llama-bpe "
		  "or "
		  "qwen2",
		  true },
		{ "bert", "gpt-2", "a b", "tokenizer.ggml.model is 'bert', expected gpt2 or llama", true },
		{ "gpt2", "gpt-2", "b a", "merge 0 of tokenizer.ggml.merges is not of two tokens that make a third",
		  true },
		{ "gpt2", "gpt-2", "ab", "merge 0 of tokenizer.ggml.merges is not of two tokens that make a third",
		  true },
		{ "gpt2", "gpt-2", "a b", NULL, false },
		{ "llama", NULL, "a b", "the file has no tokenizer.ggml.scores", true },
	};

	for (size_t i = 0; i < N_OF(files); i++) {
		struct tokenizer_vocab v;
		struct assay_tokenizer t;
		struct assay_reason why = { "" };
		int32_t ids[4];

		begin_file(files[i].pre ? 4 : 3);
		put_text("tokenizer.ggml.model", files[i].model);
		if (files[i].pre)
			put_text("tokenizer.ggml.pre", files[i].pre);
		put_tokens(files[i].all, "z!");
		put_array("tokenizer.ggml.merges", 1);
		put_string(files[i].merge);
		if (files[i].why) {
			assert_int_equal(try_file(&v, &why), -1);
			assert_string_equal(why.text, files[i].why);
			continue;
		}
		assert_int_equal(try_file(&v, &why), 0);
		assert_int_equal(assay_tokenizer_init(&t, &v.v, &why), 0);
		/* a byte that is no token is dropped */
		assert_int_equal(assay_tokenizer_encode(&t, "cab\xff", 4, false, ids), 2 + files[i].all);
		assert_int_equal(ids[0], 'c');
		assert_int_equal(ids[1], 255 + files[i].all);
		if (files[i].all)
			assert_int_equal(ids[2], 255);
		assay_tokenizer_release(&t);
		assay_vocab_release(&v);
	}
}

/*
 * A token that ends a turn by its name is a control token, as in llama.cpp, although the file gives no types; one that
 * stands before a gap is a control token alone.
 */
TEST(test_endings)
{
	static const char *const last[] = { "<|im_end|>", "<|im_start|>", "<|prefix|>" };

	for (int i = 0; i < 3; i++) {
		struct tokenizer_vocab v;
		struct assay_tokenizer t;
		struct assay_reason why = { "" };
		int32_t ids[16];

		begin_file(4);
		put_text("tokenizer.ggml.model", "gpt2");
		put_text("tokenizer.ggml.pre", "gpt-2");
		put_tokens(true, last[i]);
		put_array("tokenizer.ggml.merges", 0);
		assert_int_equal(try_file(&v, &why), 0);
		assert_int_equal(assay_tokenizer_init(&t, &v.v, &why), 0);
		assert_int_equal(assay_vocab_ends(&v.v, 257), !i);
		assert_false(assay_vocab_ends(&v.v, 'a') || assay_vocab_ends(&v.v, -1) || assay_vocab_ends(&v.v, 258));
		assert_int_equal(assay_tokenizer_encode(&t, last[i], (int64_t)strlen(last[i]), true, ids),
				 i == 1 ? 12 : 1);
		assert_int_equal(assay_tokenizer_encode(&t, last[i], (int64_t)strlen(last[i]), false, ids),
				 i == 1 ? 12 : 10);
		assay_tokenizer_release(&t);
		assay_vocab_release(&v);
	}
}

/* A vocabulary that is written to a file comes back from it. */
TEST(test_written_files)
{
	for (size_t k = 0; k <= ASSAY_N_PRES; k++) {
		char shape[64];
		struct mini_case *c;
		const struct assay_vocab *v;
		struct tokenizer_vocab read;
		struct assay_gguf_writer w;
		struct assay_reason why = { "" };
		FILE *f = fmemopen(file, sizeof(file), "w");

		snprintf(shape, sizeof(shape), "vocab=%s,tokens=700,bytes=1", assay_vocab_names[k]);
		c = new_case("encode", "ref", shape);
		v = vocab_of(c);
		assert_non_null(f);
		assay_gguf_write_begin(&w, f);
		assay_vocab_write(&w, v);
		assert_int_equal(assay_gguf_write_end(&w), 0);
		fclose(f);
		file_n = w.at;
		if (try_file(&read, &why))
			fail_msg("%s: %s", assay_vocab_names[k], why.text);
		assert_int_equal(read.v.n_tokens, v->n_tokens);
		assert_memory_equal(read.v.starts, v->starts, ((size_t)v->n_tokens + 1) * sizeof(*v->starts));
		assert_memory_equal(read.v.bytes, v->bytes, (size_t)v->starts[v->n_tokens]);
		assert_memory_equal(read.v.types, v->types, (size_t)v->n_tokens);
		if (v->model == ASSAY_VOCAB_SPM) {
			assert_memory_equal(read.v.scores, v->scores, (size_t)v->n_tokens * sizeof(*v->scores));
		} else {
			assert_int_equal(read.v.n_merges, v->n_merges);
			assert_memory_equal(read.v.merges, v->merges, (size_t)v->n_merges * sizeof(*v->merges));
		}
		assert_true(read.v.model == v->model && read.v.pre == v->pre && read.v.bos == v->bos &&
			    read.v.eos == v->eos && read.v.eot == v->eot && read.v.unknown == v->unknown &&
			    read.v.add_bos == v->add_bos && read.v.space_prefix == v->space_prefix &&
			    read.v.whole_words == v->whole_words);
		assay_vocab_release(&read);
		mini_free(c);
	}
}

/* The longest token of a place is taken, and control tokens only where they are asked for. */
TEST(test_special_tokens)
{
	struct mini_case *c = new_case("encode", "ref", "bytes=1");
	struct assay_tokenizer t;
	struct assay_reason why;
	int32_t ids[16];
	char text[16];

	assert_int_equal(assay_tokenizer_init(&t, vocab_of(c), &why), 0);
	assert_int_equal(assay_tokenizer_encode(&t, "<s>a</s>", 8, true, ids), 3);
	assert_int_equal(ids[0], t.v->bos);
	assert_int_equal(ids[2], t.v->eos);
	assert_int_equal(assay_tokenizer_decode(&t, ids, 3, true, text, sizeof(text)), 8);
	assert_memory_equal(text, "<s>a</s>", 8);
	assert_int_equal(assay_tokenizer_decode(&t, ids, 3, false, text, sizeof(text)), 1);
	assert_true(assay_tokenizer_encode(&t, "<s>a</s>", 8, false, ids) > 3);
	ids[0] = t.v->n_tokens;
	assert_int_equal(assay_tokenizer_decode(&t, ids, 1, true, text, sizeof(text)), -1);
	assay_tokenizer_release(&t);
	mini_free(c);
}

UNIT_GROUP(NULL, NULL)
