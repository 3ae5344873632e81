/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patterns of pre-tokenizers, alternative by alternative, in the order in which a regular expression tries them:
 *
 *	gpt-2      's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *	llama-bpe  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+
 *	           |\s+(?!\S)|\s+
 *	qwen2      as llama-bpe, but \p{N} in place of \p{N}{1,3}
 *
 * (?i: takes ASCII letters alone, as in llama.cpp, and \s is Unicode's White_Space.
 */
#include <string.h>

#include "assay/unicode_classes.h"
#include "gguf/tokenizer.h"

enum { END = ASSAY_CHAR_SPACE + 1 }; /* the class beyond the last character */

struct reader {
	const uint8_t *classes, *s;
	int64_t n;
};

/* Class of the character at @at, and its length. */
static int class_at(const struct reader *r, int64_t at, int64_t *len)
{
	uint32_t c;

	*len = 0;
	if (at >= r->n)
		return END;
	c = assay_utf8(r->s + at, r->n - at, len);
	return c < ASSAY_UNICODE_LIMIT ? r->classes[c] : ASSAY_CHAR_OTHER;
}

/* Where a run of at most @most characters of class @wanted that begins at @at ends. */
static int64_t run(const struct reader *r, int64_t at, int wanted, int64_t most)
{
	int64_t len;

	while (most-- && class_at(r, at, &len) == wanted)
		at += len;
	return at;
}

static bool newline(const struct reader *r, int64_t at)
{
	return at < r->n && (r->s[at] == '\r' || r->s[at] == '\n');
}

static int64_t contraction(const struct reader *r, bool any_case)
{
	static const char *const ends[] = { "s", "t", "re", "ve", "m", "ll", "d" };

	for (size_t i = 0; r->s[0] == '\'' && i < sizeof(ends) / sizeof(ends[0]); i++) {
		int64_t k = 0, n = (int64_t)strlen(ends[i]);

		while (k < n && 1 + k < r->n && (r->s[1 + k] | (any_case ? 0x20 : 0)) == ends[i][k])
			k++;
		if (k == n)
			return 1 + n;
	}
	return 0;
}

/* \s+(?!\S)|\s+: a space before something else is left to that, unless it is the only one. */
static int64_t spaces(const struct reader *r)
{
	int64_t at = 0, last = 0, len;

	while (class_at(r, at, &len) == ASSAY_CHAR_SPACE) {
		last = at;
		at += len;
	}
	return at < r->n && last ? last : at;
}

static int64_t gpt_2(const struct reader *r)
{
	int64_t n = contraction(r, false), at = r->s[0] == ' ', len;
	int class;

	if (n)
		return n;
	class = class_at(r, at, &len);
	return class < ASSAY_CHAR_SPACE ? run(r, at, class, INT64_MAX) : spaces(r);
}

static int64_t llama_bpe(const struct reader *r, int64_t most_digits)
{
	int64_t n = contraction(r, true), len, next, at = r->s[0] == ' ', end;
	int class = class_at(r, 0, &len);

	if (n)
		return n;
	if (class == ASSAY_CHAR_LETTER)
		return run(r, 0, ASSAY_CHAR_LETTER, INT64_MAX);
	if (class == ASSAY_CHAR_NUMBER)
		return run(r, 0, ASSAY_CHAR_NUMBER, most_digits);
	if (!newline(r, 0) && class_at(r, len, &next) == ASSAY_CHAR_LETTER)
		return run(r, len, ASSAY_CHAR_LETTER, INT64_MAX);
	if (class_at(r, at, &next) == ASSAY_CHAR_OTHER) {
		for (at = run(r, at, ASSAY_CHAR_OTHER, INT64_MAX); newline(r, at);)
			at++;
		return at;
	}
	for (end = run(r, 0, ASSAY_CHAR_SPACE, INT64_MAX); end > 0; end--)
		if (newline(r, end - 1))
			return end;
	return spaces(r);
}

int64_t assay_tokenizer_piece(const struct assay_tokenizer *t, const uint8_t *s, int64_t n)
{
	const struct reader r = { t->classes, s, n };

	return t->v->pre == ASSAY_PRE_GPT_2 ? gpt_2(&r) : llama_bpe(&r, t->v->pre == ASSAY_PRE_QWEN2 ? 1 : 3);
}
