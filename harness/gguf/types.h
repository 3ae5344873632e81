/* SPDX-License-Identifier: Apache-2.0 */
/* Types of tensors in a GGUF file: how many values a block has, and in how many bytes. */
#ifndef ASSAY_GGUF_TYPES_H
#define ASSAY_GGUF_TYPES_H

#include <stdint.h>

struct assay_gguf_type {
	const char *name;
	uint32_t id;    /* in the file */
	uint32_t block; /* values of a block; the length of a row is a multiple of it */
	uint32_t bytes; /* of a block */
	uint32_t tail;  /* further bytes after the last block of a tensor */
};

/* NULL: there is no such type. */
const struct assay_gguf_type *assay_gguf_type(uint32_t id);
const struct assay_gguf_type *assay_gguf_type_named(const char *name);

#endif
