/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/page/template.h"

#include <string.h>

void assay_page_fill(const char *page, assay_page_part *part, const void *of, struct assay_text *out)
{
	while (*page) {
		size_t len = strcspn(page, "@");

		assay_text_addn(out, page, len);
		page += len;
		if (!*page)
			break;
		len = strcspn(++page, "@");
		part(of, page, len, out);
		page += len + (page[len] == '@');
	}
}
