/* SPDX-License-Identifier: Apache-2.0 */
/* /proc and /sys of this machine, or of a recorded one below a folder: @root "" is this machine. */
#ifndef ASSAY_MACHINE_HOST_FILES_H
#define ASSAY_MACHINE_HOST_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First line of root/path, false when it cannot be read or is empty. */
bool assay_host_line(const char *root, const char *path, char *buf, size_t size);
/* Whole number at the start of root/path. */
bool assay_host_number(const char *root, const char *path, int64_t *out);
/* All of root/path, malloc'ed and NUL-terminated; NULL when it cannot be read. */
char *assay_host_text(const char *root, const char *path);
bool assay_host_exists(const char *root, const char *path);
/* The number after "key" at the start of a line of @text ("MemTotal:", "nr_throttled"). */
bool assay_host_field(const char *text, const char *key, uint64_t *out);

#endif
