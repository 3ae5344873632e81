/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random strings as ids, by llama.cpp and by the plain tokenizer: tokens MODEL.gguf STRINGS SEED VOCABULARY.gguf
 * [DUMP]. bench/llama_tokens.sh builds and calls it. Strings are of tokens of the vocabulary, words, spaces and
 * characters of many kinds; all are UTF-8, because what is not has no meaning that both share. Every second one is
 * parsed for special tokens. Texts and ids beside the vocabulary, as in llama.cpp's sources, are compared first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/unicode_classes.h"
#include "gguf/corpora.h"
#include "gguf/tokenizer.h"
#include "llama_library.h"
#include "tokenizer/random_chars.h"

#define MOST_BYTES 256
#define MOST_SHOWN 5

static uint32_t random_char(struct draws *d)
{
	static const uint32_t ranges[][2] = {
		{ 0x20, 0x7e },     { 0x1, 0x1f },      { 0x80, 0x24f },    { 0x300, 0x36f },     { 0x370, 0x52f },
		{ 0x590, 0x6ff },   { 0x900, 0xdff },   { 0xe00, 0xe7f },   { 0x2000, 0x20ff },   { 0x2150, 0x218b },
		{ 0x2460, 0x24ff }, { 0x2580, 0x259f }, { 0x3000, 0x30ff }, { 0x4e00, 0x9fff },   { 0xac00, 0xd7a3 },
		{ 0xe000, 0xf8ff }, { 0xfe00, 0xfeff }, { 0xff00, 0xffff }, { 0x1f300, 0x1faff }, { 0x20000, 0x2a6df },
	};
	const uint32_t *r = ranges[below(d, sizeof(ranges) / sizeof(ranges[0]))];
	uint32_t c = below(d, 8) ? r[0] + below(d, r[1] - r[0] + 1) : 1 + below(d, 0x10ffff);

	return c >= 0xd800 && c < 0xe000 ? 'x' : c;
}

static bool is_utf8(const uint8_t *s, int64_t n)
{
	int64_t len;

	for (int64_t at = 0; at < n; at += len)
		if (assay_utf8(s + at, n - at, &len) >= ASSAY_UNICODE_LIMIT)
			return false;
	return true;
}

/* A token of the vocabulary, if it is text by itself. */
static size_t put_token(const struct assay_vocab *v, struct draws *d, uint8_t *out)
{
	const uint32_t id = below(d, (uint32_t)v->n_tokens);
	const int64_t n = v->starts[id + 1] - v->starts[id];

	if (n > MOST_BYTES / 4 || v->types[id] == ASSAY_TOKEN_BYTE || !is_utf8(v->bytes + v->starts[id], n))
		return 0;
	memcpy(out, v->bytes + v->starts[id], (size_t)n);
	return (size_t)n;
}

static size_t random_text(const struct assay_tokenizer *t, struct draws *d, uint8_t *out)
{
	static const char *const words[] = { " the", "'s",  "'LL",  "'re",   "don't", " ",       "  ",
					     "   ",  "\n",  "\r\n", "\n\n ", "\t",    "12345",   " 1",
					     "3.14", "...", "://",  "_x",    "A",     "\xc3\xa9" };
	const uint32_t parts = 1 + below(d, 24);
	size_t n = 0;

	for (uint32_t i = 0; i < parts && n + MOST_BYTES / 2 < MOST_BYTES; i++) {
		const uint32_t kind = below(d, 8);

		if (kind < 2) {
			const char *word = words[below(d, sizeof(words) / sizeof(words[0]))];

			memcpy(out + n, word, strlen(word));
			n += strlen(word);
		} else if (kind < 4) {
			n += put_token(t->v, d, out + n);
		} else if (kind == 4 && t->n_special) {
			const int32_t id = t->special[below(d, (uint32_t)t->n_special)];
			const int64_t len = t->v->starts[id + 1] - t->v->starts[id];

			if (len <= MOST_BYTES / 4) {
				memcpy(out + n, t->v->bytes + t->v->starts[id], (size_t)len);
				n += (size_t)len;
			}
		} else if (kind == 5) {
			for (uint32_t k = 1 + below(d, 9); k; k--)
				out[n++] = (uint8_t)('a' + below(d, 26));
		} else {
			n += put_char(out + n, random_char(d));
		}
	}
	return n;
}

static void show(const uint8_t *s, size_t n, const int32_t *ours, int64_t n_ours, const int32_t *theirs,
		 int64_t n_theirs)
{
	int64_t at = 0;

	while (at < n_ours && at < n_theirs && ours[at] == theirs[at])
		at++;
	fputs("  \"", stdout);
	for (size_t i = 0; i < n; i++)
		printf(s[i] >= ' ' && s[i] != '"' && s[i] != '\\' ? "%c" : "\\x%02x", s[i]);
	printf("\": id %" PRId64 " is %d here and %d there\n", at, at < n_ours ? ours[at] : -1,
	       at < n_theirs ? theirs[at] : -1);
}

/* ---- for tokenizers in JavaScript, see tokens.mjs ---- */

static void dump_bytes(FILE *to, const char *kind, const uint8_t *s, int64_t n)
{
	fputs(kind, to);
	for (int64_t i = 0; i < n; i++)
		fprintf(to, "%02x", s[i]);
}

/* Tokens that are no text, such as padding, are not merged from it, so other tokenizers are not given them. */
static void dump_text(FILE *to, const struct assay_vocab *v, const uint8_t *s, int64_t n, const int32_t *ids,
		      int64_t n_ids)
{
	for (int64_t i = 0; i < n_ids; i++)
		if (v->types[ids[i]] != ASSAY_TOKEN_NORMAL)
			return;
	dump_bytes(to, "S ", s, n);
	for (int64_t i = 0; i < n_ids; i++)
		fprintf(to, " %d", ids[i]);
	fputc('\n', to);
}

/* The tokens up to the last one that is text, the merges, and the beginning of each corpus. */
static void dump_vocabulary(FILE *to, struct assay_tokenizer *t)
{
	static uint8_t text[1 << 14];
	static int32_t ids[4 * sizeof(text) + 4];
	const struct assay_vocab *v = t->v;
	int32_t n_tokens = v->n_tokens;

	while (n_tokens && v->types[n_tokens - 1] != ASSAY_TOKEN_NORMAL)
		n_tokens--;
	for (int32_t i = 0; i < n_tokens; i++) {
		dump_bytes(to, "T ", v->bytes + v->starts[i], v->starts[i + 1] - v->starts[i]);
		fputc('\n', to);
	}
	for (int32_t i = 0; i < v->n_merges; i++)
		fprintf(to, "M %d %d\n", v->merges[i][0], v->merges[i][1]);
	for (int64_t c = 0; assay_corpus_names[c]; c++) {
		int64_t n = sizeof(text);

		assay_corpus_bytes(42, c, 0, text, n);
		while (n && (text[n - 1] & 0x80))
			n--;
		if (is_utf8(text, n))
			dump_text(to, v, text, n, ids, assay_tokenizer_encode(t, text, n, false, ids));
	}
}

static int64_t compare(struct assay_tokenizer *t, const struct llama_library *l, int64_t strings, uint64_t seed,
		       FILE *dump)
{
	static int32_t ours[4 * MOST_BYTES + 4], theirs[4 * MOST_BYTES + 4];
	struct draws d = { .seed = seed };
	int64_t differ = 0;

	for (int64_t i = 0; i < strings; i++) {
		uint8_t s[MOST_BYTES];
		const size_t n = random_text(t, &d, s);
		const bool special = i % 2;
		const int64_t n_ours = assay_tokenizer_encode(t, s, (int64_t)n, special, ours);
		const int32_t n_theirs = l->tokenize(l->vocab, (const char *)s, (int32_t)n, theirs,
						     sizeof(theirs) / sizeof(theirs[0]), false, special);

		if (dump && !special)
			dump_text(dump, t->v, s, (int64_t)n, ours, n_ours);
		if (n_ours == n_theirs && !memcmp(ours, theirs, (size_t)n_ours * sizeof(ours[0])))
			continue;
		if (differ++ < MOST_SHOWN)
			show(s, n, ours, n_ours, theirs, n_theirs);
	}
	return differ;
}

/* ---- texts with their ids ---- */

#define BETWEEN "\n__ggml_vocab_test__\n"

/* The whole file with a 0 behind it, malloc'ed; NULL: there is none. */
static char *read_file(const char *path, const char *ending, size_t *n)
{
	char name[4096], *text = NULL;
	FILE *f;
	long size;

	snprintf(name, sizeof(name), "%s%s", path, ending);
	f = fopen(name, "r");
	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 && (text = malloc((size_t)size + 1))) {
		rewind(f);
		*n = fread(text, 1, (size_t)size, f);
		text[*n] = 0;
	}
	fclose(f);
	return text;
}

/* Compare one text with the ids of a line, and return the place after that. */
static char *compare_line(struct assay_tokenizer *t, const char *s, size_t n, char *line, int64_t *differ)
{
	int32_t *ours = malloc((4 * n + 4) * sizeof(*ours)), *theirs = malloc((4 * n + 4) * sizeof(*theirs));
	char *end = strchrnul(line, '\n');
	int64_t n_ours, n_theirs = 0;

	if (!ours || !theirs)
		abort();
	for (char *at = line, *next; at < end && n_theirs < (int64_t)(4 * n + 4); at = next + strspn(next, " "))
		theirs[n_theirs++] = (int32_t)strtol(at, &next, 10);
	n_ours = assay_tokenizer_encode(t, s, (int64_t)n, false, ours);
	if (n_ours != n_theirs || memcmp(ours, theirs, (size_t)n_ours * sizeof(ours[0])) != 0) {
		show((const uint8_t *)s, n, ours, n_ours, theirs, n_theirs);
		++*differ;
	}
	free(ours);
	free(theirs);
	return *end ? end + 1 : end;
}

static void compare_texts(struct assay_tokenizer *t, const char *vocabulary)
{
	size_t n_texts, n_ids;
	char *texts = read_file(vocabulary, ".inp", &n_texts), *ids = read_file(vocabulary, ".out", &n_ids);
	char *s = texts, *line = ids;
	int64_t n = 0, differ = 0;

	for (char *next; texts && ids && s; n++, s = next ? next + strlen(BETWEEN) : NULL) {
		next = memmem(s, (size_t)(texts + n_texts - s), BETWEEN, strlen(BETWEEN));
		line = compare_line(t, s, (size_t)((next ? next : texts + n_texts) - s), line, &differ);
	}
	if (n)
		printf("%" PRId64 " of %" PRId64 " texts beside it, ", differ, n);
	free(texts);
	free(ids);
}

int main(int argc, char **argv)
{
	struct assay_reason why = { "" };
	struct assay_gguf g;
	struct tokenizer_vocab v;
	struct assay_tokenizer t;
	struct llama_library l = { .model = NULL };
	const bool called = argc == 5 || argc == 6;
	const int64_t strings = called ? strtoll(argv[2], NULL, 10) : 0;
	FILE *dump = argc == 6 ? fopen(argv[5], "w") : NULL;

	if (!called || assay_gguf_open(&g, argv[1], &why) || assay_vocab_read(&v, &g, &why) ||
	    assay_tokenizer_init(&t, &v.v, &why) || llama_library_open(&l, argv[1], &why)) {
		fprintf(stderr, "%s\n",
			called ? why.text : "usage: tokens MODEL.gguf STRINGS SEED VOCABULARY.gguf [DUMP]");
		return 2;
	}
	compare_texts(&t, argv[4]);
	if (dump)
		dump_vocabulary(dump, &t);
	printf("%" PRId64 " of %" PRId64 " strings have other ids\n",
	       compare(&t, &l, strings, strtoull(argv[3], NULL, 10), dump), strings);
	return dump && fclose(dump) ? 2 : 0;
}
