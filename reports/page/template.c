/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/page/template.h"

#include <stdio.h>
#include <string.h>

const struct assay_page_file assay_page_of_results[] = {
#include "report_page.h"
	{ NULL, NULL }
};

const char *assay_page_file_text(const struct assay_page_file *files, const char *name)
{
	for (; files->name; files++)
		if (!strcmp(files->name, name))
			return files->text;
	return "";
}

/* A digest is a line of its own. */
static bool add_file(const struct assay_page_file *files, const char *name, struct assay_text *out)
{
	static const struct {
		const char *part, *file;
	} parts[] = {
		{ "style", "page.css" },
		{ "script", "page.js" },
		{ "style_digest", "page.css.sha256" },
		{ "script_digest", "page.js.sha256" },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *text;

		if (strcmp(parts[i].part, name))
			continue;
		text = assay_page_file_text(files, parts[i].file);
		assay_text_addn(out, text, i < 2 ? strlen(text) : strcspn(text, "\n"));
		return true;
	}
	return false;
}

void assay_page_fill(const struct assay_page_file *files, assay_page_part *part, const void *of, struct assay_text *out)
{
	const char *page = assay_page_file_text(files, "page.html");

	while (*page) {
		size_t len = strcspn(page, "@");
		char name[32];

		assay_text_addn(out, page, len);
		page += len;
		if (!*page)
			break;
		len = strcspn(++page, "@");
		snprintf(name, sizeof(name), "%.*s", (int)len, page);
		if (!add_file(files, name, out) && !(part && part(of, name, out)))
			out->failed = true;
		page += len + (page[len] == '@');
	}
}
