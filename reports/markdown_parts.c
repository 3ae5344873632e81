/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/markdown_parts.h"

#include <string.h>

#include "base/text.h"

void assay_markdown_prose(struct assay_text *out, const char *s)
{
	uint32_t c;

	while ((c = assay_code_point_next(&s))) {
		if (c < ' ' || c == 0x7f)
			c = ' ';
		if (c == '|') {
			/* a backslash before a pipe means something else inside a table than outside */
			assay_text_add(out, "&#124;");
			continue;
		}
		if (c < 0x80 && strchr("\\`*_[]<>~&", (int)c))
			assay_text_add(out, "\\");
		assay_code_point_add(out, c);
	}
}

void assay_markdown_name(struct assay_text *out, const char *s)
{
	bool plain = !strpbrk(s, "`|\\");
	uint32_t c;

	assay_text_add(out, plain ? "`" : "<code>");
	while ((c = assay_code_point_next(&s))) {
		if (c < ' ' || c == 0x7f)
			c = ' ';
		if (!plain && c < 0x80 && strchr("`|\\*_[]<>~&#", (int)c))
			assay_text_addf(out, "&#%u;", (unsigned)c);
		else
			assay_code_point_add(out, c);
	}
	assay_text_add(out, plain ? "`" : "</code>");
}
