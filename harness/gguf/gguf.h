/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GGUF files, versions 2 and 3 (ggml's docs/gguf.md): metadata and tensors of a model. The program and the plugins both
 * read them, so this folder includes nothing but libc and the plugins' interface.
 *
 * Everything points into the mapped file. Each size, offset and count has been checked against the size of the file
 * before it is used, and memory is only taken for entries that the file has bytes for. A file must not be shortened
 * while it is open.
 */
#ifndef ASSAY_GGUF_GGUF_H
#define ASSAY_GGUF_GGUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/plugin.h"
#include "gguf/types.h"

/* Kinds of values, as the file numbers them. */
enum assay_gguf_kind {
	ASSAY_GGUF_U8,
	ASSAY_GGUF_I8,
	ASSAY_GGUF_U16,
	ASSAY_GGUF_I16,
	ASSAY_GGUF_U32,
	ASSAY_GGUF_I32,
	ASSAY_GGUF_F32,
	ASSAY_GGUF_BOOL,
	ASSAY_GGUF_STRING,
	ASSAY_GGUF_ARRAY,
	ASSAY_GGUF_U64,
	ASSAY_GGUF_I64,
	ASSAY_GGUF_F64,
	ASSAY_GGUF_N_KINDS
};

/* Bytes of the file; not terminated, and not necessarily UTF-8. */
struct assay_gguf_string {
	const char *s;
	size_t len;
};

struct assay_gguf_value {
	struct assay_gguf_string key;
	enum assay_gguf_kind kind; /* of each element, where it is an array */
	bool is_array;
	uint64_t n;        /* elements; 1 where it is no array */
	const uint8_t *at; /* the first element, little-endian and unaligned */
	size_t bytes;      /* of all elements */
};

struct assay_gguf_tensor {
	struct assay_gguf_string name;
	const struct assay_gguf_type *type;
	uint32_t rank;
	uint64_t dims[4]; /* 1 beyond the rank; dims[0] is the length of a row */
	const uint8_t *data;
	uint64_t bytes;
};

struct assay_gguf {
	const uint8_t *file;
	size_t size;
	bool mapped;
	uint32_t version;
	uint32_t alignment;
	size_t n_values, n_tensors;
	struct assay_gguf_value *values; /* in the order of the file, as are the tensors */
	struct assay_gguf_tensor *tensors;
	const void **by_key, **by_name; /* the same, sorted */
};

/* Map @path. 0, or -1 with the reason and nothing to close. */
int assay_gguf_open(struct assay_gguf *g, const char *path, struct assay_reason *why);
/* The same of a file in memory, which has to outlive @g. */
int assay_gguf_parse(struct assay_gguf *g, const void *file, size_t size, struct assay_reason *why);
void assay_gguf_close(struct assay_gguf *g);

/* NULL where the file does not have it. */
const struct assay_gguf_value *assay_gguf_value(const struct assay_gguf *g, const char *key);
const struct assay_gguf_tensor *assay_gguf_tensor(const struct assay_gguf *g, const char *name);

/*
 * The value of a key that holds one element, converted. 0; 1 where the file does not have the key, with *out left as
 * it was; or -1 with the reason where it has another kind of value. A whole number is refused where int64_t cannot
 * hold it.
 */
int assay_gguf_int(const struct assay_gguf *g, const char *key, int64_t *out, struct assay_reason *why);
int assay_gguf_float(const struct assay_gguf *g, const char *key, double *out, struct assay_reason *why);
int assay_gguf_bool(const struct assay_gguf *g, const char *key, bool *out, struct assay_reason *why);
int assay_gguf_text(const struct assay_gguf *g, const char *key, struct assay_gguf_string *out,
		    struct assay_reason *why);

/* An array of @kind; results as above. */
int assay_gguf_array(const struct assay_gguf *g, const char *key, enum assay_gguf_kind kind,
		     const struct assay_gguf_value **out, struct assay_reason *why);
/*
 * The string at *at, after which *at is the next one. Of an array of strings: begin at value->at, and call it at most
 * value->n times.
 */
struct assay_gguf_string assay_gguf_next_string(const uint8_t **at);
/* Element @i of a value whose kind is a number or a bool, as a number; 64-bit integers lose bits beyond 2^53. */
double assay_gguf_number(const struct assay_gguf_value *v, uint64_t i);
/* The same of whole numbers and bools, without loss; modulo 2^64. */
int64_t assay_gguf_whole(const struct assay_gguf_value *v, uint64_t i);

bool assay_gguf_string_is(struct assay_gguf_string s, const char *text);
/* "u32", "string", ... */
const char *assay_gguf_kind_name(enum assay_gguf_kind kind);

#endif
