/* SPDX-License-Identifier: Apache-2.0 */
/* Types of tensors in a GGUF file: how many values a block has, in how many bytes, and which numbers these are. */
#ifndef ASSAY_GGUF_TYPES_H
#define ASSAY_GGUF_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay_gguf_type {
	const char *name;
	uint32_t id;    /* in the file */
	uint32_t block; /* values of a block; the length of a row is a multiple of it */
	uint32_t bytes; /* of a block */
	uint32_t tail;  /* further bytes after the last block of a tensor: the scale of i2_s and its padding */
	bool ternary;   /* all values of a block are -d, 0 or d */
	/*
	 * @n blocks to floats, and back to the nearest that the type has; NULL: the type has no kernels. Of i2_s
	 * without the scale: -1, 0 and 1, and back by the sign.
	 */
	void (*decode)(const uint8_t *blocks, size_t n, float *out);
	void (*encode)(const float *in, size_t n, uint8_t *blocks);
};

/* NULL: there is no such type. */
const struct assay_gguf_type *assay_gguf_type(uint32_t id);
const struct assay_gguf_type *assay_gguf_type_named(const char *name);

/* "f32, f16, ...": those that have kernels. @size bytes of @out suffice if they are 128. */
void assay_gguf_types_with_kernels(char *out, size_t size);

/* The factor of all values of a tensor of @bytes: of i2_s what follows the codes, else 1. */
float assay_gguf_tensor_scale(const struct assay_gguf_type *t, const uint8_t *data, uint64_t bytes);

#endif
