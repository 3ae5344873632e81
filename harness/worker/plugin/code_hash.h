/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A digest of some functions of a plugin and of everything in the plugin that they can reach. It does not depend on
 * where the linker put things, nor on the rest of the plugin: equal digests mean equal machine code and constants.
 */
#ifndef ASSAY_WORKER_PLUGIN_CODE_HASH_H
#define ASSAY_WORKER_PLUGIN_CODE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"

/* Addresses of a variant's run, prepare, release and supports; NULL for those that it lacks. */
#define ASSAY_CODE_ENTRIES 4

/*
 * @dl is the handle of dlopen and @path the file it was loaded from. ASSAY_EUNAVAILABLE with the reason when the file
 * cannot tell: it keeps no relocations or symbols (`-Wl,--emit-relocs`, not stripped), has a kind of relocation that is
 * not known here, or an entry lies in another file. The caller then takes assay_plugin_file_code, which covers more.
 *
 * How fine it is depends on the plugin: what is told apart is a section. With `-ffunction-sections -fdata-sections` and
 * `-Wl,--unique=.text.*,--unique=.rodata*,--unique=.data.*,--unique=.bss.*` each function and each object is one.
 */
int assay_code_hash(const char *path, void *dl, const void *const entries[ASSAY_CODE_ENTRIES], struct assay_digest *out,
		    struct assay_err *err);

/* ---- function code ---- */

/*
 * A digest of each function of a plugin, by its name in the source: of its machine code, of what that refers to by
 * name, and of the constants it reads. Equal digests on both sides of a comparison mean that a function does what it
 * did.
 */

struct assay_function_codes {
	struct assay_name_index index;
	uint64_t *digests; /* malloc'ed, of as many as the index has */
	size_t n;
};

/*
 * Of the file @path. A file that was linked without --emit-relocs does not say which of its bytes are addresses, so
 * that a function which only lies elsewhere may seem to differ there, and constants are taken all together.
 * ASSAY_EUNAVAILABLE where it has no symbols. Release @c in either case.
 */
int assay_function_codes_read(struct assay_function_codes *c, const char *path, struct assay_err *err);
void assay_function_codes_release(struct assay_function_codes *c);
/* The digest of what the symbol @name belongs to; 0: there is no such function. */
uint64_t assay_function_codes_find(const struct assay_function_codes *c, const char *name);

#endif
