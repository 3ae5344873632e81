/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/time/time.h"

#include <stdio.h>
#include <string.h>

/* A shell acts upon these, or expands them, outside quotes and inside double quotes. */
#define SPECIAL        "|&;<>()$`*?"
#define SPECIAL_QUOTED "$`"

static int refuse(const char *command, char c, struct assay_err *err)
{
	return assay_err_set(
		err, ASSAY_EUSAGE,
		"only a shell understands the '%c' in '%.300s': add --shell sh, or put it in single quotes", c,
		command);
}

/* Add what follows the quote at @at to @word, and return its closing quote; NULL: there is none, or @err says why. */
static const char *quoted(const char *command, const char *at, struct assay_text *word, struct assay_err *err)
{
	const char quote = *at++;

	for (; *at && *at != quote; at++) {
		if (quote == '"' && *at == '\\' && at[1] && strchr("\"\\$`", at[1])) {
			at++;
		} else if (quote == '"' && strchr(SPECIAL_QUOTED, *at)) {
			refuse(command, *at, err);
			return NULL;
		}
		assay_text_addn(word, at, 1);
	}
	if (*at)
		return at;
	assay_err_set(err, ASSAY_EUSAGE, "a %c is not closed in '%.300s'", quote, command);
	return NULL;
}

/* The word at @*at, which is no blank; moves to behind it. */
static int next_word(const char *command, const char **at, struct assay_text *word, struct assay_err *err)
{
	const char *p = *at;

	assay_text_add(word, "");
	for (; *p && !strchr(" \t\n", *p); p++) {
		if (*p == '\'' || *p == '"') {
			p = quoted(command, p, word, err);
			if (!p)
				return ASSAY_EUSAGE;
			continue;
		}
		if (strchr(SPECIAL, *p) || (*p == '~' && p == *at))
			return refuse(command, *p, err);
		if (*p == '\\' && !*++p)
			return assay_err_set(err, ASSAY_EUSAGE, "nothing follows the last \\ of '%.300s'", command);
		assay_text_addn(word, p, 1);
	}
	*at = p;
	return word->failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory") : 0;
}

int assay_words_split(const char *command, struct assay_strings *out, struct assay_err *err)
{
	const size_t before = out->n;
	int rc = 0;

	for (const char *at = command + strspn(command, " \t\n"); *at && !rc; at += strspn(at, " \t\n")) {
		struct assay_text word = { 0 };

		rc = next_word(command, &at, &word, err);
		if (!rc)
			rc = assay_strings_add(out, word.s, err);
		assay_text_release(&word);
	}
	if (!rc && out->n == before)
		rc = assay_err_set(err, ASSAY_EUSAGE, "a command is empty");
	return rc;
}

int assay_parameter_read(const char *text, const char *what, struct assay_parameter *out, struct assay_err *err)
{
	const char *equals = strchr(text, '=');
	const size_t len = equals ? (size_t)(equals - text) : 0;

	*out = (struct assay_parameter){ 0 };
	if (!len || len >= sizeof(out->name) || !equals[1])
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%s is '%.200s', expected a name and its values, such as n 1,2,4", what, text);
	memcpy(out->name, text, len);
	return assay_strings_split(&out->values, equals + 1, ',', err);
}

size_t assay_parameters_count(const struct assay_parameter *p, size_t n)
{
	size_t all = 1;

	for (size_t i = 0; i < n; i++)
		all *= p[i].values.n;
	return all;
}

const char *assay_parameters_value(const struct assay_parameter *p, size_t i, size_t at)
{
	for (size_t k = 0; k < i; k++)
		at /= p[k].values.n;
	return p[i].values.v[at % p[i].values.n];
}

char *assay_parameters_fill(const char *text, const struct assay_parameter *p, size_t n, size_t at)
{
	struct assay_text out = { 0 };

	while (*text) {
		size_t i = 0, len = 0;

		for (; *text == '{' && i < n; i++) {
			len = strlen(p[i].name);
			if (!strncmp(text + 1, p[i].name, len) && text[1 + len] == '}')
				break;
		}
		if (*text == '{' && i < n) {
			assay_text_add(&out, assay_parameters_value(p, i, at));
			text += len + 2;
		} else {
			assay_text_addn(&out, text++, 1);
		}
	}
	return assay_text_take(&out);
}
