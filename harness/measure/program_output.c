/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/program.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Of what is quoted in a reason. */
#define QUOTED_MAX 80
#define NUMBER_MAX 64

void assay_program_as_shown(struct assay_text *text)
{
	size_t to = 0, line = 0, end = 0;

	for (size_t at = 0; at < text->len; at++) {
		const char c = text->s[at];

		if (c == '\n') {
			text->s[end++] = c;
			to = line = end;
		} else if (c == '\r') {
			to = line;
		} else {
			/* what a pattern cannot see would end it */
			text->s[to++] = c ? c : ' ';
			end = to > end ? to : end;
		}
	}
	if (text->s)
		text->s[end] = '\0';
	text->len = end;
}

/* The line of @text that @match begins in, cut. */
static int line_of(const char *text, const regmatch_t *match, const char **begin)
{
	regoff_t from = match->rm_so;
	size_t len;

	while (from > 0 && text[from - 1] != '\n')
		from--;
	*begin = text + from + strspn(text + from, " \t");
	len = strcspn(*begin, "\n");
	return (int)(len < QUOTED_MAX ? len : QUOTED_MAX);
}

/* The last line with something in it. */
static int last_line(const char *text, const char **begin)
{
	const struct assay_text t = { .s = (char *)(uintptr_t)text, .len = strlen(text) };
	size_t end = t.len, from;

	while (end && strchr(" \t\r\n", text[end - 1]))
		end--;
	for (from = end; from && text[from - 1] != '\n'; from--)
		;
	*begin = text + from;
	return (int)(end - from < QUOTED_MAX ? end - from : QUOTED_MAX);
}

static bool read_number(const char *text, const regmatch_t *group, double *value, char *why, size_t size)
{
	const int len = (int)(group->rm_eo - group->rm_so);
	char number[NUMBER_MAX], *end = number;

	if (group->rm_so >= 0 && len > 0 && len < NUMBER_MAX) {
		snprintf(number, sizeof(number), "%.*s", len, text + group->rm_so);
		*value = strtod(number, &end);
		if (!*end && isfinite(*value))
			return true;
	}
	snprintf(why, size, "its pattern found '%.*s', which is not a number", len > 0 && len < QUOTED_MAX ? len : 0,
		 text + (group->rm_so >= 0 ? group->rm_so : 0));
	return false;
}

static void found_nothing(const char *text, char *why, size_t size)
{
	const char *line;
	const int len = last_line(text, &line);

	if (len)
		snprintf(why, size, "its pattern finds nothing in the output, which ends in '%.*s'", len, line);
	else
		snprintf(why, size, "its pattern finds nothing, as the program printed nothing");
}

static bool compile(regex_t *regex, const char *pattern, char *why, size_t size)
{
	if (!regcomp(regex, pattern, REG_EXTENDED | REG_NEWLINE))
		return true;
	snprintf(why, size, "its pattern is not a regular expression");
	return false;
}

bool assay_program_find_numbers(const char *text, const char *pattern, struct assay_program_numbers *out, char *why,
				size_t size)
{
	const char *at = text;
	regmatch_t m[2];
	regex_t regex;
	bool ok = compile(&regex, pattern, why, size);

	*out = (struct assay_program_numbers){ 0 };
	if (!ok)
		return false;
	while (ok && !regexec(&regex, at, 2, m, at == text || at[-1] == '\n' ? 0 : REG_NOTBOL)) {
		double value = 0;

		ok = read_number(at, &m[1], &value, why, size);
		if (ok && assay_grow(&out->v, out->n, sizeof(*out->v))) {
			snprintf(why, size, "not enough memory for all that its pattern finds");
			ok = false;
		}
		if (ok)
			out->v[out->n++] = value;
		/* a match has a number in it, so that the next one begins farther on */
		at += m[0].rm_eo;
	}
	regfree(&regex);
	if (ok && !out->n)
		found_nothing(text, why, size);
	ok = ok && out->n;
	if (!ok) {
		free(out->v);
		out->v = NULL;
	}
	return ok;
}

bool assay_program_find_number(const char *text, const char *pattern, double *value, char *why, size_t size)
{
	regmatch_t m[2], again[1];
	const char *line, *second;
	regex_t regex;
	bool found = false;
	int len, more;

	if (!compile(&regex, pattern, why, size))
		return false;
	if (regexec(&regex, text, 2, m, 0)) {
		found_nothing(text, why, size);
	} else if (m[0].rm_eo > m[0].rm_so &&
		   !regexec(&regex, text + m[0].rm_eo, 1, again, text[m[0].rm_eo - 1] == '\n' ? 0 : REG_NOTBOL)) {
		again[0].rm_so += m[0].rm_eo;
		len = line_of(text, m, &line);
		more = line_of(text, again, &second);
		snprintf(why, size, "its pattern finds two numbers, in '%.*s' and in '%.*s'", len, line, more, second);
	} else {
		found = read_number(text, &m[1], value, why, size);
	}
	regfree(&regex);
	return found;
}
