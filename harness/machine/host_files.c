/* SPDX-License-Identifier: Apache-2.0 */
/* Small readers over /proc and /sys, below an optional root. */
#include "machine/host_files.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/*
 * @path below @root. Only where there is a root is that text of its own, @owned, for the caller to free. No buffer on
 * the stack: samples of a profiler hold the top of it, and workers read such files all the time. NULL: out of memory.
 */
static const char *below(const char *root, const char *path, char **owned)
{
	*owned = NULL;
	if (!root || !*root)
		return path;
	if (asprintf(owned, "%s%s", root, path) < 0)
		*owned = NULL;
	return *owned;
}

bool assay_host_line(const char *root, const char *path, char *buf, size_t size)
{
	char *owned;
	const char *full = below(root, path, &owned);
	bool found;

	buf[0] = '\0';
	found = full && assay_file_line(full, buf, size) && buf[0];
	free(owned);
	return found;
}

bool assay_host_number(const char *root, const char *path, int64_t *out)
{
	char line[64], *end;
	long long v;

	if (!assay_host_line(root, path, line, sizeof(line)))
		return false;
	errno = 0;
	v = strtoll(line, &end, 10);
	if (errno || end == line || (*end && !isspace((unsigned char)*end)))
		return false;
	*out = v;
	return true;
}

char *assay_host_text(const char *root, const char *path)
{
	char *owned, *text = NULL;
	const char *full = below(root, path, &owned);
	size_t len;

	if (!full || assay_file_read(full, &text, &len, NULL))
		text = NULL;
	free(owned);
	return text;
}

bool assay_host_exists(const char *root, const char *path)
{
	char *owned;
	const char *full = below(root, path, &owned);
	bool exists = full && assay_file_exists(full);

	free(owned);
	return exists;
}

bool assay_host_field(const char *text, const char *key, uint64_t *out)
{
	size_t len = strlen(key);

	for (const char *p = text; p && *p; p = strchr(p, '\n')) {
		char *end;

		p += *p == '\n';
		if (strncmp(p, key, len) || !isspace((unsigned char)p[len]))
			continue;
		*out = strtoull(p + len, &end, 10);
		return end != p + len;
	}
	return false;
}
