/* SPDX-License-Identifier: Apache-2.0 */
/* Devices in words. */
#include "model/device_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MHZ 1000000u
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static __attribute__((format(printf, 3, 4))) void add(char *buf, size_t size, const char *fmt, ...)
{
	size_t n = strlen(buf);
	va_list ap;

	if (n && n + 2 < size) {
		memcpy(buf + n, ", ", 3);
		n += 2;
	}
	va_start(ap, fmt);
	vsnprintf(buf + n, size - n, fmt, ap);
	va_end(ap);
}

static void add_mode(char *buf, size_t size, const char *name, uint32_t mode)
{
	if (mode != ASSAY_MODE_UNKNOWN)
		add(buf, size, "%s %s", name, mode == ASSAY_MODE_ON ? "on" : "off");
}

void assay_device_text(const struct assay_device_info *i, char *buf, size_t size)
{
	buf[0] = '\0';
	add(buf, size, "%s", i->name[0] ? i->name : "unknown device");
	if (i->arch[0])
		add(buf, size, "%s", i->arch);
	if (i->compute_units)
		add(buf, size, "%" PRIu32 " units", i->compute_units);
	if (i->core_hz_max)
		add(buf, size, "%" PRIu64 " MHz", i->core_hz_max / MHZ);
	if (i->memory_bytes)
		add(buf, size, "%" PRIu64 " %s",
		    i->memory_bytes < GIB ? i->memory_bytes / MIB : (i->memory_bytes + GIB / 2) / GIB,
		    i->memory_bytes < GIB ? "MiB" : "GiB");
	if (i->memory_hz_max)
		add(buf, size, "memory %" PRIu64 " MHz", i->memory_hz_max / MHZ);
	if (i->l2_bytes)
		add(buf, size, "L2 %" PRIu64 " MiB", i->l2_bytes / MIB);
	add_mode(buf, size, "ECC", i->ecc);
	add_mode(buf, size, "MIG", i->mig);
	if (i->pcie_generation)
		add(buf, size, "PCIe %" PRIu32 " x%" PRIu32, i->pcie_generation, i->pcie_lanes);
	if (i->driver[0])
		add(buf, size, "driver %s", i->driver);
}
