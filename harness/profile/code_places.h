/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which function and line of which file an address of this process belongs to, by the symbols and the debug information
 * of the files that are mapped. Must not look for either anywhere else, on this machine or on the network.
 */
#ifndef ASSAY_PROFILE_CODE_PLACES_H
#define ASSAY_PROFILE_CODE_PLACES_H

#include <stdint.h>

#include "base/err.h"

struct assay_code_places;

/* Can this build tell? ASSAY_EUNAVAILABLE says why not. */
int assay_code_places_probe(struct assay_err *err);

/* All that is mapped at this moment. */
int assay_code_places_open(struct assay_code_places **out, struct assay_err *err);
void assay_code_places_close(struct assay_code_places *p);

/* Texts are valid until it is closed; "" and 0 where something is not known. */
struct assay_code_place {
	const char *function;
	const char *object; /* path of the program or library */
	/*
	 * Of the source: name without folders. Code of a header of the system that was inlined, such as an intrinsic,
	 * belongs to where it was called.
	 */
	const char *file;
	unsigned line;
};
struct assay_code_place assay_code_places_find(struct assay_code_places *p, uint64_t address);

#endif
