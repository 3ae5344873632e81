/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are "name : number", the name from the start of the line and padded with blanks. */
#include "counters/sched_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

int assay_sched_migrations(const char *text, uint64_t *out)
{
	static const char name[] = ASSAY_SCHED_MIGRATIONS;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		unsigned long long value;
		const char *p;
		char *end;

		line += *line == '\n';
		if (strncmp(line, name, sizeof(name) - 1))
			continue;
		p = line + sizeof(name) - 1;
		p += strspn(p, " \t");
		if (*p++ != ':')
			continue;
		p += strspn(p, " \t");
		if (!isdigit((unsigned char)*p))
			return ASSAY_ENOTFOUND;
		value = strtoull(p, &end, 10);
		if (*end != '\n' && *end)
			return ASSAY_ENOTFOUND;
		*out = value;
		return 0;
	}
	return ASSAY_ENOTFOUND;
}
