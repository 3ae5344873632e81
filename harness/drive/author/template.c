/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in templates, line by line. */
#include "drive/author/template.h"

#include <string.h>

static const struct {
	const char *name, *text;
} templates[] = {
#include "new_templates.h"
};

/* The value of the key that begins at @at, behind its '@', and ends at the next one; NULL: no such key. */
static const char *value_of(const char *at, size_t len, const struct assay_template_value *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(values[i].key) == len && !strncmp(values[i].key, at, len))
			return values[i].value;
	return NULL;
}

static int fill_line(const char *line, size_t len, const struct assay_template_value *values, size_t n,
		     struct assay_text *out, struct assay_err *err)
{
	const char *end = line + len, *at;

	while ((at = memchr(line, '@', (size_t)(end - line)))) {
		const char *close = memchr(at + 1, '@', (size_t)(end - at - 1));
		const char *value = close ? value_of(at + 1, (size_t)(close - at - 1), values, n) : NULL;

		if (!value)
			return assay_err_set(err, ASSAY_EINTERNAL, "a template has a key without a value: '%.*s'",
					     (int)len, end - len);
		/* the key is all of the line */
		if (!value[0] && close + 2 == end && at == end - len)
			return 0;
		assay_text_addn(out, line, (size_t)(at - line));
		assay_text_add(out, value);
		line = close + 1;
	}
	assay_text_addn(out, line, (size_t)(end - line));
	return 0;
}

const char *assay_template_text(const char *name)
{
	for (size_t i = 0; i < sizeof(templates) / sizeof(templates[0]); i++)
		if (!strcmp(templates[i].name, name))
			return templates[i].text;
	return NULL;
}

int assay_template_fill(const char *name, const struct assay_template_value *values, size_t n, struct assay_text *out,
			struct assay_err *err)
{
	const char *line = assay_template_text(name);
	int rc = 0;

	if (!line)
		return assay_err_set(err, ASSAY_EINTERNAL, "no template '%s'", name);
	while (*line && !rc) {
		size_t len = strcspn(line, "\n") + 1;

		rc = fill_line(line, len, values, n, out, err);
		line += len;
	}
	return !rc && out->failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory") : rc;
}

void assay_template_comment(struct assay_text *out, const char *s)
{
	for (; *s; s++) {
		assay_text_addn(out, (unsigned char)*s < ' ' ? " " : s, 1);
		/* the ends and beginnings of comments, and trigraphs */
		if ((s[0] == '*' && s[1] == '/') || (s[0] == '/' && s[1] == '*') || (s[0] == '?' && s[1] == '?'))
			assay_text_add(out, " ");
	}
}
