/* SPDX-License-Identifier: Apache-2.0 */
/* Commands as a shell splits them. */
#include "base/text.h"

#include <string.h>

/* A shell acts upon these, or expands them, outside quotes and inside double quotes. */
#define SPECIAL        "|&;<>()$`*?"
#define SPECIAL_QUOTED "$`"
#define NAME_MAX_LEN   64

static int refuse(const char *command, char c, struct assay_err *err)
{
	return assay_err_set(err, ASSAY_EUSAGE,
			     "only a shell understands the '%c' in '%.300s': put it in single quotes, or run a shell "
			     "as sh -c '…'",
			     c, command);
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

char *assay_words_fill(const char *text, const char *(*value)(const void *arg, const char *name), const void *arg)
{
	struct assay_text out = { 0 };

	while (*text) {
		const size_t len = *text == '{' ? strcspn(text + 1, "{}") : 0;
		char name[NAME_MAX_LEN];
		const char *with = NULL;

		if (len && len < sizeof(name) && text[1 + len] == '}') {
			memcpy(name, text + 1, len);
			name[len] = '\0';
			with = value(arg, name);
		}
		if (with)
			assay_text_add(&out, with);
		else
			assay_text_addn(&out, text, 1);
		text += with ? len + 2 : 1;
	}
	return assay_text_take(&out);
}
