/* SPDX-License-Identifier: Apache-2.0 */
/* A file that a preloaded object writes by mapping it, with room reserved before it is used; without an allocation. */
#ifndef ASSAY_COUNTERS_PRELOAD_GROWING_FILE_H
#define ASSAY_COUNTERS_PRELOAD_GROWING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY_GROWING_FILE_PATH 4096

struct assay_growing_file {
	char path[ASSAY_GROWING_FILE_PATH];
	uint64_t room_bytes, most_bytes;
};

/*
 * A file of this process alone, @dir/PID.N@ending, mapped for @most_bytes. NULL where there can be none, or @dir is
 * NULL. @before, which may be NULL, has room for a path: of the program that this process was before, "" for none.
 */
void *assay_growing_file_new(struct assay_growing_file *f, const char *dir, const char *ending, uint64_t most_bytes,
			     char *before);
/* Reserve room for its first @bytes; false on a full disk, or beyond its most. */
bool assay_growing_file_reserve(struct assay_growing_file *f, uint64_t bytes);
/* What the kernel calls this program, cut to @size with its end; "" where that is not told. */
void assay_growing_file_program(char *name, size_t size);

#endif
