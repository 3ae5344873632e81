/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A digest of some functions of a plugin and of everything in the plugin that they can reach. It does not depend on
 * where the linker put things, nor on the rest of the plugin: equal digests mean equal machine code and constants.
 */
#ifndef ASSAY_WORKER_PLUGIN_CODE_HASH_H
#define ASSAY_WORKER_PLUGIN_CODE_HASH_H

#include <stddef.h>

#include "base/err.h"
#include "base/hash.h"

/* Addresses of a variant's run, prepare, release and supports; NULL for those that it lacks. */
#define ASSAY_CODE_ENTRIES 4

/*
 * @dl is the handle of dlopen and @path the file it was loaded from. ASSAY_EUNAVAILABLE with the reason when the file
 * cannot tell: it keeps no relocations or symbols (`-Wl,--emit-relocs`, not stripped), has a kind of relocation that is
 * not known here, or an entry lies in another file. The caller then takes assay_plugin_file.code, which covers more.
 *
 * How fine it is depends on the plugin: what is told apart is a section. With `-ffunction-sections -fdata-sections` and
 * `-Wl,--unique=.text.*,--unique=.rodata*,--unique=.data.*,--unique=.bss.*` each function and each object is one.
 */
int assay_code_hash(const char *path, void *dl, const void *const entries[ASSAY_CODE_ENTRIES], struct assay_digest *out,
		    struct assay_err *err);

#endif
