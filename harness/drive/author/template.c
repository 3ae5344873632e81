/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in templates, line by line. */
#include "drive/author/author.h"

#include <string.h>

static const struct {
	const char *name, *text;
} templates[] = {
#include "new_templates.h"
};

const char *assay_template_text(const char *name)
{
	for (size_t i = 0; i < sizeof(templates) / sizeof(templates[0]); i++)
		if (!strcmp(templates[i].name, name))
			return templates[i].text;
	return NULL;
}

/* The value of the key that begins at @key; NULL: there is no such key. */
static const char *value_of(const char *key, size_t len, const struct assay_template_values *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (strlen(v->keys[i]) == len && !strncmp(v->keys[i], key, len))
			return v->values[i].s ? v->values[i].s : "";
	return NULL;
}

static int fill_line(const char *line, size_t len, const struct assay_template_values *v, struct assay_text *out,
		     struct assay_err *err)
{
	const char *end = line + len, *at;

	while ((at = memchr(line, '@', (size_t)(end - line)))) {
		const char *close = memchr(at + 1, '@', (size_t)(end - at - 1));
		const char *value = close ? value_of(at + 1, (size_t)(close - at - 1), v) : NULL;

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

/* Is one of the words of "@only A B" a tag? */
static bool wanted(const char *line, size_t len, const struct assay_strings *tags)
{
	for (const char *word = line + strlen("@only "); word < line + len; word += strcspn(word, " \n") + 1)
		for (size_t i = 0; i < tags->n; i++)
			if (strcspn(word, " \n") == strlen(tags->v[i]) &&
			    !strncmp(word, tags->v[i], strlen(tags->v[i])))
				return true;
	return false;
}

int assay_template_fill(const char *text, const struct assay_template_values *values, struct assay_text *out,
			struct assay_err *err)
{
	unsigned depth = 0, hidden = 0; /* hidden: the depth of the outermost block that is left out */
	int rc = 0;

	for (size_t len; *text && !rc; text += len) {
		len = strcspn(text, "\n");
		len += text[len] == '\n';
		if (!strncmp(text, "@only ", strlen("@only "))) {
			depth++;
			if (!hidden && !wanted(text, len, &values->tags))
				hidden = depth;
		} else if (!strncmp(text, "@end\n", strlen("@end\n"))) {
			if (hidden == depth)
				hidden = 0;
			depth--;
		} else if (!hidden) {
			rc = fill_line(text, len, values, out, err);
		}
	}
	return !rc && out->failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory") : rc;
}
