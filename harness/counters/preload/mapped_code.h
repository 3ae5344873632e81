/* SPDX-License-Identifier: Apache-2.0 */
/* Which files' code this process has mapped, each told once; for what is preloaded, hence without an allocation. */
#ifndef ASSAY_COUNTERS_PRELOAD_MAPPED_CODE_H
#define ASSAY_COUNTERS_PRELOAD_MAPPED_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY_MAPPED_MOST 1024

/* All-zero: nothing is known. Not for two threads at once. */
struct assay_mapped_code {
	struct {
		uint64_t start, end;
	} maps[ASSAY_MAPPED_MOST];
	size_t n;
	char text[8192]; /* what was read of /proc last */
};

/* Keep a map; false where there is no room, and it is told again. @path "": code of no file. */
typedef bool (*assay_mapped_fn)(uint64_t start, uint64_t end, uint64_t file_offset, const char *path);

bool assay_mapped_code_has(const struct assay_mapped_code *m, uint64_t address);
/* Tell @keep of all that is mapped and was not told yet. */
void assay_mapped_code_read(struct assay_mapped_code *m, assay_mapped_fn keep);

#endif
