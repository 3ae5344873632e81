/* SPDX-License-Identifier: Apache-2.0 */
/* Growing strings, lists of strings, globs and the nearest name. Numbers are parsed in text_parse.c. */
#include "base/text.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for @n more bytes and the NUL. Doubles, so that adding byte by byte stays linear. */
static bool text_reserve(struct assay_text *t, size_t n)
{
	size_t cap = t->cap ? t->cap : 64;
	char *s;

	if (t->failed)
		return false;
	if (t->cap > t->len && n < t->cap - t->len)
		return true;
	if (n >= SIZE_MAX / 2 - t->len) {
		t->failed = true;
		return false;
	}
	while (cap < t->len + n + 1)
		cap *= 2;
	if (cap == t->cap)
		return true;

	s = realloc(t->s, cap);
	if (!s) {
		t->failed = true;
		return false;
	}
	t->s = s;
	t->cap = cap;
	return true;
}

char *assay_text_room(struct assay_text *t, size_t n)
{
	if (!text_reserve(t, n))
		return NULL;
	t->s[t->len] = '\0';
	return t->s + t->len;
}

void assay_text_grow(struct assay_text *t, size_t n)
{
	t->len += n;
	t->s[t->len] = '\0';
}

void assay_text_addn(struct assay_text *t, const char *s, size_t n)
{
	if (!text_reserve(t, n))
		return;
	if (n)
		memcpy(t->s + t->len, s, n);
	assay_text_grow(t, n);
}

void assay_text_add(struct assay_text *t, const char *s)
{
	assay_text_addn(t, s, strlen(s));
}

void assay_text_addf(struct assay_text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		t->failed = true;
		return;
	}
	if (!text_reserve(t, (size_t)n))
		return;

	va_start(ap, fmt);
	vsnprintf(t->s + t->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->len += (size_t)n;
}

void assay_text_add_word(struct assay_text *t, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-,:@%=";
	bool quoted = !word[0] || word[strspn(word, plain)];

	if (quoted)
		assay_text_add(t, "\"");
	for (; *word; word++) {
		if (strchr("\"\\$`", *word))
			assay_text_add(t, "\\");
		assay_text_addn(t, word, 1);
	}
	if (quoted)
		assay_text_add(t, "\"");
}

void assay_text_release(struct assay_text *t)
{
	free(t->s);
	*t = (struct assay_text){ 0 };
}

char *assay_text_take(struct assay_text *t)
{
	char *s = t->s;

	if (t->failed) {
		assay_text_release(t);
		return NULL;
	}
	if (!s)
		s = strdup("");
	*t = (struct assay_text){ 0 };
	return s;
}

int assay_strings_addn(struct assay_strings *l, const char *s, size_t n, struct assay_err *err)
{
	char *copy = strndup(s, n);
	char **v;

	if (!copy)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a list of %zu names", l->n);

	/* Lists here are short (names, options, globs): one more slot at a time keeps the struct to two members. */
	v = realloc(l->v, (l->n + 1) * sizeof(*v));
	if (!v) {
		free(copy);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a list of %zu names", l->n);
	}
	l->v = v;
	l->v[l->n++] = copy;
	return 0;
}

int assay_strings_add(struct assay_strings *l, const char *s, struct assay_err *err)
{
	return assay_strings_addn(l, s, strlen(s), err);
}

bool assay_strings_has(const struct assay_strings *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i], s))
			return true;
	return false;
}

void assay_strings_release(struct assay_strings *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct assay_strings){ 0 };
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int assay_strings_split(struct assay_strings *l, const char *s, char sep, struct assay_err *err)
{
	for (;;) {
		const char *end = strchrnul(s, sep);
		const char *a = s, *b = end;
		int rc;

		while (a < b && is_blank(*a))
			a++;
		while (b > a && is_blank(b[-1]))
			b--;
		rc = assay_strings_addn(l, a, (size_t)(b - a), err);
		if (rc || !*end)
			return rc;
		s = end + 1;
	}
}

bool assay_glob_match(const char *pattern, const char *s)
{
	/* a command that was typed with such characters is found by itself, too */
	return strstr(s, pattern) || (strpbrk(pattern, "*?[") && fnmatch(pattern, s, 0) == 0);
}

#define NEAREST_MAX 128

/*
 * Edit distance in which swapping two neighbours costs one (optimal string alignment), the usual typing errors. Both
 * strings are shorter than NEAREST_MAX.
 */
static size_t edit_distance(const char *a, const char *b)
{
	size_t rows[3][NEAREST_MAX + 1];
	size_t *before = rows[0], *prev = rows[1], *row = rows[2], *swap;
	size_t na = strlen(a), nb = strlen(b);

	for (size_t j = 0; j <= nb; j++)
		prev[j] = before[j] = j;

	for (size_t i = 1; i <= na; i++) {
		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t best = prev[j - 1] + (a[i - 1] != b[j - 1]);

			if (prev[j] + 1 < best)
				best = prev[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
		swap = before;
		before = prev;
		prev = row;
		row = swap;
	}
	return prev[nb];
}

const char *assay_nearest(const char *s, const char *const *names, size_t n)
{
	size_t len = strlen(s);
	/* A third of the letters may be wrong; beyond that a suggestion is a guess. */
	size_t best = len / 3 + 1;
	const char *found = NULL;

	if (!len || len >= NEAREST_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t d;

		if (strlen(names[i]) >= NEAREST_MAX)
			continue;
		d = edit_distance(s, names[i]);
		/* Strictly below the length: otherwise any name is "near" a single letter. */
		if (d < len && (d < best || (d == best && !found))) {
			best = d;
			found = names[i];
		}
	}
	return found;
}

/* ---- code point ---- */

/*
 * UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, none above U+10FFFF. A '?' is never longer than what it
 * stands for: text is made printable in place, and no array is too small for it.
 */

uint32_t assay_code_point_next(const char **s)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)*s;
	size_t more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;
	uint32_t c;

	if (!*p)
		return 0;
	(*s)++;
	if (*p < 0x80)
		return *p;
	if (!more || *p > 0xf4)
		return ASSAY_CODE_POINT_BAD;
	c = *p & (0x3fu >> more);
	for (size_t i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return ASSAY_CODE_POINT_BAD;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return ASSAY_CODE_POINT_BAD;
	*s += more;
	return c;
}

void assay_code_point_add(struct assay_text *out, uint32_t c)
{
	char b[4];
	size_t n;

	if (c < 0x80) {
		b[0] = (char)c;
		n = 1;
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 0x3f));
		n = 2;
	} else if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 0x3f));
		b[2] = (char)(0x80 | (c & 0x3f));
		n = 3;
	} else {
		b[0] = (char)(0xf0 | c >> 18);
		b[1] = (char)(0x80 | (c >> 12 & 0x3f));
		b[2] = (char)(0x80 | (c >> 6 & 0x3f));
		b[3] = (char)(0x80 | (c & 0x3f));
		n = 4;
	}
	assay_text_addn(out, b, n);
}

/* Unicode's control and format characters, separators of lines, and what is no character: first and last of each. */
static const uint32_t unfit[][2] = {
	{ 0x00, 0x1f },     { 0x7f, 0x9f },     { 0xad, 0xad },       { 0x61c, 0x61c },   { 0x180e, 0x180e },
	{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },   { 0xfdd0, 0xfdef }, { 0xfeff, 0xfeff },
	{ 0xfff9, 0xfffb }, { 0xfffe, 0xffff }, { 0xe0000, 0xe0fff },
};

static bool fits(uint32_t c)
{
	for (size_t i = 0; i < sizeof(unfit) / sizeof(unfit[0]); i++)
		if (c >= unfit[i][0] && c <= unfit[i][1])
			return false;
	return true;
}

static bool is_space(char c)
{
	return c == '\n' || c == '\t';
}

/* @line: a blank for each line end and tab. */
static size_t make_printable(char *s, size_t len, bool line)
{
	const char *p = s;
	size_t n = 0;

	while (p < s + len) {
		const char *from = p;
		uint32_t c = assay_code_point_next(&p);

		if (!c)
			p++;
		if (is_space(*from))
			s[n++] = line ? ' ' : *from;
		else if (!fits(c) || (c == ASSAY_CODE_POINT_BAD && p == from + 1))
			s[n++] = '?';
		else
			while (from < p)
				s[n++] = *from++;
	}
	s[n] = '\0';
	return n;
}

void assay_printable_line(char *s, size_t size)
{
	s[size - 1] = '\0';
	make_printable(s, strlen(s), true);
}

size_t assay_printable_lines(char *s, size_t len)
{
	return make_printable(s, len, false);
}

size_t assay_ascii_signs(char *s, size_t len)
{
	/* no replacement is longer than its sign */
	static const char *const signs[][2] = {
		{ "µ", "u" }, { "±", "+-" }, { "×", "x" }, { "·", "|" }, { "…", "..." }, { "→", "->" },
	};
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		size_t k = 0;

		while (k < sizeof(signs) / sizeof(signs[0]) && strncmp(s + i, signs[k][0], strlen(signs[k][0])) != 0)
			k++;
		if (k == sizeof(signs) / sizeof(signs[0])) {
			s[n++] = s[i++];
			continue;
		}
		i += strlen(signs[k][0]);
		for (const char *c = signs[k][1]; *c; c++)
			s[n++] = *c;
	}
	s[n] = '\0';
	return n;
}

const char *assay_text_kept(const char *s)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	static struct assay_strings kept;
	const char *found = NULL;

	pthread_mutex_lock(&one_at_a_time);
	for (size_t i = 0; i < kept.n && !found; i++)
		if (!strcmp(kept.v[i], s))
			found = kept.v[i];
	if (!found && !assay_strings_add(&kept, s, NULL))
		found = kept.v[kept.n - 1];
	pthread_mutex_unlock(&one_at_a_time);
	return found;
}
