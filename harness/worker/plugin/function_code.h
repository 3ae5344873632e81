/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A digest of each function of a plugin, by its name in the source: of its machine code, of what that refers to by
 * name, and of the constants it reads. Equal digests on both sides of a comparison mean that a function does what it
 * did.
 */
#ifndef ASSAY_WORKER_PLUGIN_FUNCTION_CODE_H
#define ASSAY_WORKER_PLUGIN_FUNCTION_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"

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
