/* SPDX-License-Identifier: Apache-2.0 */
/* Growing strings, lists of strings, globs and the nearest name. Numbers are parsed in text_parse.c. */
#include "base/text.h"

#include <fnmatch.h>
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
