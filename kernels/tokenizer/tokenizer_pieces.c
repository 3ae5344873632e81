/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patterns gpt-2, llama-bpe and qwen2, by the first characters of a piece; a run of ASCII takes a table alone. SPM
 * has no pieces, but a text can be cut wherever no token lies across.
 */
#include "tokenizer_ours.h"

static int class_at(const struct tokenizer_tables *t, const uint8_t *p, const uint8_t *end, int64_t *len)
{
	*len = 1;
	return *p < 0x80 ? t->ascii[*p] : t->classes[assay_utf8(p, end - p, len)];
}

/* The end of a run of one class. */
static inline const uint8_t *run(const struct tokenizer_tables *t, const uint8_t *p, const uint8_t *end, int wanted)
{
	for (;;) {
		int64_t len;

		while (p < end && t->ascii[*p] == wanted)
			p++;
		if (p == end || *p < 0x80 || class_at(t, p, end, &len) != wanted)
			return p;
		p += len;
	}
}

/* The length of the ending of a word after an apostrophe; 0: there is none. */
static int contraction(const uint8_t *p, const uint8_t *end, int fold)
{
	const int a = end - p > 1 ? p[1] | fold : 0, b = end - p > 2 ? p[2] | fold : 0;

	if (a == 's' || a == 't' || a == 'm' || a == 'd')
		return 2;
	return ((a == 'r' || a == 'v') && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
}

/* A run of spaces leaves its last one to what follows. */
static const uint8_t *spaces(const struct tokenizer_tables *t, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *stop = run(t, p, end, ASSAY_CHAR_SPACE), *last = stop;

	if (stop == end)
		return stop;
	do
		last--;
	while ((*last & 0xc0) == 0x80);
	return last > p ? last : stop;
}

static const uint8_t *gpt_2(const struct tokenizer_tables *t, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *from = p + (*p == ' ');
	int64_t len;
	int class;

	if (*p == '\'') {
		int n = contraction(p, end, 0);

		if (n)
			return p + n;
	}
	if (from == end)
		return end;
	class = class_at(t, from, end, &len);
	return class == ASSAY_CHAR_SPACE ? spaces(t, p, end) : run(t, from + len, end, class);
}

static const uint8_t *lines(const uint8_t *p, const uint8_t *end)
{
	while (p < end && (*p == '\n' || *p == '\r'))
		p++;
	return p;
}

static const uint8_t *numbers(const struct tokenizer_tables *t, const uint8_t *p, const uint8_t *end, int most)
{
	int64_t len;

	while (most-- && p < end && class_at(t, p, end, &len) == ASSAY_CHAR_NUMBER)
		p += len;
	return p;
}

static const uint8_t *llama_bpe(const struct tokenizer_tables *t, const uint8_t *p, const uint8_t *end, int digits)
{
	const uint8_t *next, *stop;
	int64_t len, next_len;
	int class = class_at(t, p, end, &len), next_class;

	if (class == ASSAY_CHAR_LETTER)
		return run(t, p + len, end, ASSAY_CHAR_LETTER);
	if (class == ASSAY_CHAR_NUMBER)
		return numbers(t, p, end, digits);
	if (*p == '\'') {
		int n = contraction(p, end, 0x20);

		if (n)
			return p + n;
	}
	next = p + len;
	next_class = next < end ? class_at(t, next, end, &next_len) : -1;
	if (next_class == ASSAY_CHAR_LETTER && *p != '\n' && *p != '\r')
		return run(t, next + next_len, end, ASSAY_CHAR_LETTER);
	if (class == ASSAY_CHAR_OTHER || (*p == ' ' && next_class == ASSAY_CHAR_OTHER))
		return lines(run(t, next, end, ASSAY_CHAR_OTHER), end);
	stop = run(t, p, end, ASSAY_CHAR_SPACE);
	while (stop > p && stop[-1] != '\n' && stop[-1] != '\r')
		stop--;
	return stop > p ? stop : spaces(t, p, end);
}

/* Spaces and the word after them. */
static const uint8_t *word(const struct tokenizer_tables *t, const uint8_t *p, const uint8_t *end)
{
	int64_t len;

	if (!t->spaces_begin_only)
		return end;
	while (p < end && (len = tokenizer_space(p, end)))
		p += len;
	while (p < end && !tokenizer_space(p, end))
		p++;
	return p;
}

const uint8_t *tokenizer_piece_end(const struct tokenizer_tables *t, const uint8_t *p, const uint8_t *end)
{
	if (t->ranks)
		return word(t, p, end);
	return t->v->pre == ASSAY_PRE_GPT_2 ? gpt_2(t, p, end)
					    : llama_bpe(t, p, end, t->v->pre == ASSAY_PRE_QWEN2 ? 1 : 3);
}
