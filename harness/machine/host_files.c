/* SPDX-License-Identifier: Apache-2.0 */
/* Small readers over /proc and /sys, below an optional root. */
#include "machine/host_files.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static bool join(char *out, size_t size, const char *root, const char *path)
{
	int n = snprintf(out, size, "%s%s", root ? root : "", path);

	return n > 0 && (size_t)n < size;
}

bool assay_host_line(const char *root, const char *path, char *buf, size_t size)
{
	char full[PATH_MAX];

	buf[0] = '\0';
	return join(full, sizeof(full), root, path) && assay_file_line(full, buf, size) && buf[0];
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
	char full[PATH_MAX], *text = NULL;
	size_t len;

	if (!join(full, sizeof(full), root, path) || assay_file_read(full, &text, &len, NULL))
		return NULL;
	return text;
}

bool assay_host_exists(const char *root, const char *path)
{
	char full[PATH_MAX];

	return join(full, sizeof(full), root, path) && assay_file_exists(full);
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
