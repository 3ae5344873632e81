/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/preload/mapped_code.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool assay_mapped_code_has(const struct assay_mapped_code *m, uint64_t address)
{
	for (size_t i = 0; i < m->n; i++)
		if (address >= m->maps[i].start && address < m->maps[i].end)
			return true;
	return false;
}

/* "start-end rwxp offset dev inode   /path" */
static void read_line(struct assay_mapped_code *m, char *line, assay_mapped_fn keep)
{
	char *at = line, *slash = strchr(line, '/');
	const uint64_t start = strtoull(at, &at, 16), end = strtoull(at + 1, &at, 16);

	if (strlen(at) < 6 || at[3] != 'x' || assay_mapped_code_has(m, start) || m->n == ASSAY_MAPPED_MOST)
		return;
	if (!keep(start, end, strtoull(at + 6, NULL, 16), slash ? slash : ""))
		return;
	m->maps[m->n].start = start;
	m->maps[m->n++].end = end;
}

void assay_mapped_code_read(struct assay_mapped_code *m, assay_mapped_fn keep)
{
	const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, m->text + len, sizeof(m->text) - 1 - len)) > 0) {
		char *line = m->text, *end;

		len += (size_t)n;
		m->text[len] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			read_line(m, line, keep);
		}
		len -= (size_t)(line - m->text);
		memmove(m->text, line, len);
		if (len == sizeof(m->text) - 1)
			len = 0; /* no line is so long */
	}
	if (fd >= 0)
		close(fd);
}
