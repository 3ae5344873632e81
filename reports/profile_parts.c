/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/profile_parts.h"

#include <stdio.h>
#include <string.h>

const char *assay_profile_name(const char *name)
{
	return name[0] ? name : "[unknown]";
}

void assay_profile_title(const struct assay_profile *p, struct assay_text *out)
{
	assay_text_addf(out, "%s profile of %s", strcmp(p->kind, "cpu") ? p->kind : "CPU", p->what);
}

void assay_profile_place(const struct assay_profile_function *f, char *buf, size_t size)
{
	if (!f->line)
		buf[0] = '\0';
	else if (f->last_line > f->line)
		snprintf(buf, size, "%s:%u-%u", f->file, f->line, f->last_line);
	else
		snprintf(buf, size, "%s:%u", f->file, f->line);
}
