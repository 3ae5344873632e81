/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a plugin as an ELF file, before any of its code can run. Must not load it. */
#ifndef ASSAY_WORKER_PLUGIN_FILE_H
#define ASSAY_WORKER_PLUGIN_FILE_H

#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"

struct assay_plugin_file {
	uint16_t abi_major, abi_minor;
	char build_id[65];        /* hex; "" when the linker wrote none */
	struct assay_digest code; /* of all its machine code, constants and imports */
};

/*
 * ASSAY_EPLUGIN: not a shared object of this architecture, no descriptor symbol, or no magic in it. ASSAY_EABI: another
 * major version; both are named, and abi_major and abi_minor are filled.
 */
int assay_plugin_file_read(const char *path, struct assay_plugin_file *out, struct assay_err *err);

#endif
