/* SPDX-License-Identifier: Apache-2.0 */
/* Which bits of machine code a relocation fills in, as the processor's ABI says. */
#ifndef ASSAY_WORKER_PLUGIN_RELOCATION_FIELDS_H
#define ASSAY_WORKER_PLUGIN_RELOCATION_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

/* Little-endian, @width bytes, those of @mask. */
struct assay_relocation_field {
	uint16_t machine;
	uint32_t type;
	unsigned width; /* 8 at most */
	uint64_t mask;
	bool absolute; /* the addend is an offset from the symbol to what is meant, and nothing else */
};

/* NULL: this kind is not known here. */
const struct assay_relocation_field *assay_relocation_field_of(uint16_t machine, uint32_t type);
/* Clear them in the instruction at @bytes. */
void assay_relocation_clear(const struct assay_relocation_field *f, unsigned char *bytes);

#endif
