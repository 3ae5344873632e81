/* SPDX-License-Identifier: Apache-2.0 */
/* Byte counts as people write them. */
#ifndef ASSAY_MACHINE_MACHINE_TEXT_H
#define ASSAY_MACHINE_MACHINE_TEXT_H

#include <stdint.h>
#include <stdio.h>

struct assay_memory_text {
	char s[32];
};

/* "48 KiB", "1.25 MiB", "24 GiB"; "unknown" for 0. */
static inline struct assay_memory_text assay_memory_text(uint64_t bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	struct assay_memory_text t = { "unknown" };
	double v = (double)bytes;
	int u = 0;

	if (!bytes)
		return t;
	while (v >= 1024.0 && u < 4) {
		v /= 1024.0;
		u++;
	}
	snprintf(t.s, sizeof(t.s), "%.4g %s", v, unit[u]);
	return t;
}

#endif
