/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass from the beginning to the end of the file, through a cursor that knows how many bytes are left: nothing is
 * read or counted before the cursor says that the file has it.
 */
#include "gguf/gguf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_KEY       65535
#define MAX_NAME      64
#define MAX_ALIGNMENT (1u << 20)
/* The least that an entry takes: a length, a name of one byte, a kind or rank, and what follows. */
#define LEAST_VALUE_BYTES  (8 + 1 + 4 + 1)
#define LEAST_TENSOR_BYTES (8 + 1 + 4 + 8 + 4 + 8)

static int refuse(struct assay_reason *why, const char *fmt, ...) ASSAY_PRINTF(2, 3);
static int refuse(struct assay_reason *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return -1;
}

/* ---- the cursor ---- */

struct cursor {
	const uint8_t *at;
	size_t left;
	const char *in; /* the part of the file that is read, for messages */
	struct assay_reason *why;
};

static int take(struct cursor *c, uint64_t n, const uint8_t **out)
{
	if (n > c->left)
		return refuse(c->why, "the file ends within its %s: %" PRIu64 " bytes are needed and %zu are left",
			      c->in, n, c->left);
	*out = c->at;
	c->at += n;
	c->left -= n;
	return 0;
}

static int take_u32(struct cursor *c, uint32_t *out)
{
	const uint8_t *p = NULL;
	int rc = take(c, sizeof(*out), &p);

	if (!rc)
		memcpy(out, p, sizeof(*out));
	return rc;
}

static int take_u64(struct cursor *c, uint64_t *out)
{
	const uint8_t *p = NULL;
	int rc = take(c, sizeof(*out), &p);

	if (!rc)
		memcpy(out, p, sizeof(*out));
	return rc;
}

static int take_string(struct cursor *c, struct assay_gguf_string *out)
{
	const uint8_t *p = NULL;
	uint64_t len;

	if (take_u64(c, &len) || take(c, len, &p))
		return -1;
	*out = (struct assay_gguf_string){ (const char *)p, (size_t)len };
	return 0;
}

/* Names are printed in messages and compared as C strings. */
static int take_name(struct cursor *c, size_t most, const char *what, struct assay_gguf_string *out)
{
	if (take_string(c, out))
		return -1;
	if (out->len < 1 || out->len > most)
		return refuse(c->why, "a %s has a name of %zu bytes, expected 1 to %zu", what, out->len, most);
	for (size_t i = 0; i < out->len; i++)
		if ((unsigned char)out->s[i] <= ' ' || (unsigned char)out->s[i] > '~')
			return refuse(c->why, "the name of a %s has the byte %d, expected printable ASCII", what,
				      (unsigned char)out->s[i]);
	return 0;
}

/* For "%.*s": as much of a name as a message has room for. */
#define SHOWN(name) (int)((name).len < 64 ? (name).len : 64), (name).s

/* ---- values ---- */

static const struct {
	const char *name;
	uint8_t bytes; /* 0: it has no fixed size */
} kinds[ASSAY_GGUF_N_KINDS] = {
	[ASSAY_GGUF_U8] = { "u8", 1 },         [ASSAY_GGUF_I8] = { "i8", 1 },       [ASSAY_GGUF_U16] = { "u16", 2 },
	[ASSAY_GGUF_I16] = { "i16", 2 },       [ASSAY_GGUF_U32] = { "u32", 4 },     [ASSAY_GGUF_I32] = { "i32", 4 },
	[ASSAY_GGUF_F32] = { "f32", 4 },       [ASSAY_GGUF_BOOL] = { "bool", 1 },   [ASSAY_GGUF_U64] = { "u64", 8 },
	[ASSAY_GGUF_STRING] = { "string", 0 }, [ASSAY_GGUF_ARRAY] = { "array", 0 }, [ASSAY_GGUF_I64] = { "i64", 8 },
	[ASSAY_GGUF_F64] = { "f64", 8 },
};

const char *assay_gguf_kind_name(enum assay_gguf_kind kind)
{
	return kinds[kind].name;
}

static int take_kind(struct cursor *c, const struct assay_gguf_string key, enum assay_gguf_kind *out)
{
	uint32_t kind;

	if (take_u32(c, &kind))
		return -1;
	if (kind >= ASSAY_GGUF_N_KINDS)
		return refuse(c->why, "'%.*s' has a value of kind %" PRIu32 ", expected one below %d", SHOWN(key), kind,
			      ASSAY_GGUF_N_KINDS);
	*out = (enum assay_gguf_kind)kind;
	return 0;
}

static int take_elements(struct cursor *c, struct assay_gguf_value *v)
{
	struct assay_gguf_string s;
	const uint8_t *p = NULL;
	const size_t each = kinds[v->kind].bytes;

	v->at = c->at;
	/* a string has eight bytes at least */
	if (v->n > c->left / (each ? each : 8))
		return refuse(c->why, "the file ends within '%.*s': it has %" PRIu64 " elements and %zu bytes are left",
			      SHOWN(v->key), v->n, c->left);
	if (each && take(c, v->n * each, &p))
		return -1;
	for (uint64_t i = 0; i < v->n && !each; i++)
		if (take_string(c, &s))
			return -1;
	for (uint64_t i = 0; i < v->n && v->kind == ASSAY_GGUF_BOOL; i++)
		if (p[i] > 1)
			return refuse(c->why, "'%.*s' has a bool that is %d, expected 0 or 1", SHOWN(v->key), p[i]);
	v->bytes = (size_t)(c->at - v->at);
	return 0;
}

static int take_value(struct cursor *c, struct assay_gguf_value *v)
{
	if (take_name(c, MAX_KEY, "key", &v->key) || take_kind(c, v->key, &v->kind))
		return -1;
	v->n = 1;
	v->is_array = v->kind == ASSAY_GGUF_ARRAY;
	if (v->is_array && (take_kind(c, v->key, &v->kind) || take_u64(c, &v->n)))
		return -1;
	if (v->kind == ASSAY_GGUF_ARRAY)
		return refuse(c->why, "'%.*s' is an array of arrays, expected one of numbers, bools or strings",
			      SHOWN(v->key));
	return take_elements(c, v);
}

/* ---- tensors ---- */

static int take_type(struct cursor *c, struct assay_gguf_tensor *t)
{
	uint32_t id;

	if (take_u32(c, &id))
		return -1;
	t->type = assay_gguf_type(id);
	if (!t->type)
		return refuse(c->why, "tensor '%.*s' is of the unknown type %" PRIu32, SHOWN(t->name), id);
	return 0;
}

/* Bytes of a tensor, which no product may overflow. */
static int measure(struct cursor *c, struct assay_gguf_tensor *t)
{
	uint64_t values = 1;

	for (uint32_t i = 0; i < t->rank; i++)
		if (!t->dims[i] || __builtin_mul_overflow(values, t->dims[i], &values) || values > INT64_MAX)
			return refuse(c->why, "tensor '%.*s' has a dimension that is 0, or more than 2^63 values",
				      SHOWN(t->name));
	if (t->dims[0] % t->type->block)
		return refuse(c->why,
			      "tensor '%.*s' has rows of %" PRIu64 " values, expected a multiple of %" PRIu32 " for %s",
			      SHOWN(t->name), t->dims[0], t->type->block, t->type->name);
	if (__builtin_mul_overflow(values / t->type->block, t->type->bytes, &t->bytes) ||
	    __builtin_add_overflow(t->bytes, t->type->tail, &t->bytes))
		return refuse(c->why, "tensor '%.*s' is larger than any file", SHOWN(t->name));
	return 0;
}

static int take_tensor(struct cursor *c, struct assay_gguf_tensor *t, uint64_t *offset)
{
	if (take_name(c, MAX_NAME, "tensor", &t->name) || take_u32(c, &t->rank))
		return -1;
	if (t->rank < 1 || t->rank > 4)
		return refuse(c->why, "tensor '%.*s' has %" PRIu32 " dimensions, expected 1 to 4", SHOWN(t->name),
			      t->rank);
	for (uint32_t i = 0; i < 4; i++) {
		t->dims[i] = 1;
		if (i < t->rank && take_u64(c, &t->dims[i]))
			return -1;
	}
	return take_type(c, t) || take_u64(c, offset) || measure(c, t) ? -1 : 0;
}

/* Tensors follow each other without gaps other than those of the alignment, as in ggml. */
static int place(struct assay_gguf *g, struct cursor *c, struct assay_gguf_tensor *t, uint64_t offset, uint64_t *next)
{
	uint64_t end;

	if (offset != *next)
		return refuse(c->why,
			      "tensor '%.*s' begins at %" PRIu64 ", expected %" PRIu64 ", where the one before it ends",
			      SHOWN(t->name), offset, *next);
	if (__builtin_add_overflow(offset, t->bytes, &end) || end > g->size)
		return refuse(c->why, "tensor '%.*s' ends beyond the file, which has %zu bytes", SHOWN(t->name),
			      g->size);
	/* it becomes an address when it is known where the data begin */
	t->data = g->file + offset;
	*next = (end + g->alignment - 1) / g->alignment * g->alignment;
	return 0;
}

/* ---- sorted by name ---- */

static int compare_names(const void *a, const void *b)
{
	/* both structs begin with their name */
	const struct assay_gguf_string *x = *(const struct assay_gguf_string *const *)a,
				       *y = *(const struct assay_gguf_string *const *)b;
	const size_t least = x->len < y->len ? x->len : y->len;
	const int order = memcmp(x->s, y->s, least);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static const void **sort_names(const void *entries, size_t n, size_t stride, const char *what, struct assay_reason *why)
{
	const void **sorted = malloc((n + 1) * sizeof(*sorted));

	if (!sorted) {
		refuse(why, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = (const char *)entries + i * stride;
	qsort(sorted, n, sizeof(*sorted), compare_names);
	for (size_t i = 1; i < n; i++)
		if (!compare_names(&sorted[i - 1], &sorted[i])) {
			refuse(why, "there are two %s '%.*s'", what,
			       SHOWN(*(const struct assay_gguf_string *)sorted[i]));
			free(sorted);
			return NULL;
		}
	return sorted;
}

static const void *find(const void **sorted, size_t n, const char *name)
{
	const struct assay_gguf_string s = { name, strlen(name) }, *key = &s;
	const void **found = bsearch(&key, sorted, n, sizeof(*sorted), compare_names);

	return found ? *found : NULL;
}

const struct assay_gguf_value *assay_gguf_value(const struct assay_gguf *g, const char *key)
{
	return find(g->by_key, g->n_values, key);
}

const struct assay_gguf_tensor *assay_gguf_tensor(const struct assay_gguf *g, const char *name)
{
	return find(g->by_name, g->n_tensors, name);
}

/* ---- the file ---- */

static int take_header(struct assay_gguf *g, struct cursor *c, uint64_t *n_tensors, uint64_t *n_values)
{
	const uint8_t *magic = NULL;

	if (c->left < 4 || take(c, 4, &magic) || memcmp(magic, "GGUF", 4) != 0)
		return refuse(c->why, "it is not a GGUF file");
	if (take_u32(c, &g->version))
		return -1;
	if (!(g->version & 0xffff) && g->version)
		return refuse(c->why, "it is in big-endian byte order, expected little-endian");
	if (g->version != 2 && g->version != 3)
		return refuse(c->why, "it is of GGUF version %" PRIu32 ", expected 2 or 3", g->version);
	return take_u64(c, n_tensors) || take_u64(c, n_values) ? -1 : 0;
}

/* Room for entries that the rest of the file can hold. */
static void *room(struct cursor *c, uint64_t n, size_t least_bytes, size_t each)
{
	void *v = NULL;

	if (n > c->left / least_bytes)
		refuse(c->why, "the file ends within its %s: it has %" PRIu64 " of them and %zu bytes are left", c->in,
		       n, c->left);
	else if (!(v = calloc((size_t)n + 1, each)))
		refuse(c->why, "out of memory");
	return v;
}

static int take_values(struct assay_gguf *g, struct cursor *c, uint64_t n)
{
	int64_t alignment = 32;

	c->in = "metadata";
	g->values = room(c, n, LEAST_VALUE_BYTES, sizeof(*g->values));
	if (!g->values)
		return -1;
	for (; g->n_values < n; g->n_values++)
		if (take_value(c, &g->values[g->n_values]))
			return -1;
	g->by_key = sort_names(g->values, g->n_values, sizeof(*g->values), "keys", c->why);
	if (!g->by_key || assay_gguf_int(g, "general.alignment", &alignment, c->why) < 0)
		return -1;
	if (alignment < 1 || alignment > MAX_ALIGNMENT || alignment & (alignment - 1))
		return refuse(c->why, "'general.alignment' is %" PRId64 ", expected a power of two up to %u", alignment,
			      MAX_ALIGNMENT);
	g->alignment = (uint32_t)alignment;
	return 0;
}

static int take_tensors(struct assay_gguf *g, struct cursor *c, uint64_t n)
{
	uint64_t next = 0, offset = 0;
	size_t data_at;

	c->in = "list of tensors";
	g->tensors = room(c, n, LEAST_TENSOR_BYTES, sizeof(*g->tensors));
	if (!g->tensors)
		return -1;
	for (; g->n_tensors < n; g->n_tensors++) {
		struct assay_gguf_tensor *t = &g->tensors[g->n_tensors];

		if (take_tensor(c, t, &offset) || place(g, c, t, offset, &next))
			return -1;
	}
	g->by_name = sort_names(g->tensors, g->n_tensors, sizeof(*g->tensors), "tensors", c->why);
	if (!g->by_name)
		return -1;
	data_at = (g->size - c->left + g->alignment - 1) / g->alignment * g->alignment;
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct assay_gguf_tensor *t = &g->tensors[i];
		const size_t begin = (size_t)(t->data - g->file);

		if (data_at > g->size || begin > g->size - data_at || t->bytes > g->size - data_at - begin)
			return refuse(c->why,
				      "the file ends within tensor '%.*s': it has %" PRIu64
				      " bytes from %zu on and the file has %zu",
				      SHOWN(t->name), t->bytes, begin + data_at, g->size);
		t->data += data_at;
	}
	return 0;
}

int assay_gguf_parse(struct assay_gguf *g, const void *file, size_t size, struct assay_reason *why)
{
	struct cursor c = { file, size, "header", why };
	uint64_t n_tensors = 0, n_values = 0;

	*g = (struct assay_gguf){ .file = file, .size = size };
	if (!take_header(g, &c, &n_tensors, &n_values) && !take_values(g, &c, n_values) &&
	    !take_tensors(g, &c, n_tensors))
		return 0;
	assay_gguf_close(g);
	return -1;
}

int assay_gguf_open(struct assay_gguf *g, const char *path, struct assay_reason *why)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *map = MAP_FAILED;
	int rc;

	if (fd < 0)
		return refuse(why, "%s", strerror(errno));
	if (fstat(fd, &st))
		rc = refuse(why, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode) || !st.st_size)
		rc = refuse(why, "it is %s, expected a GGUF file",
			    S_ISREG(st.st_mode) ? "empty" : "not a regular file");
	else if ((map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
		rc = refuse(why, "%s", strerror(errno));
	else
		rc = assay_gguf_parse(g, map, (size_t)st.st_size, why);
	if (!rc)
		g->mapped = true;
	else if (map != MAP_FAILED)
		munmap(map, (size_t)st.st_size);
	close(fd);
	return rc;
}

void assay_gguf_close(struct assay_gguf *g)
{
	free(g->values);
	free(g->tensors);
	free(g->by_key);
	free(g->by_name);
	if (g->mapped)
		munmap((void *)(uintptr_t)g->file, g->size);
	*g = (struct assay_gguf){ 0 };
}

/* ---- elements ---- */

struct assay_gguf_string assay_gguf_next_string(const uint8_t **at)
{
	struct assay_gguf_string s;
	uint64_t len;

	memcpy(&len, *at, sizeof(len));
	s = (struct assay_gguf_string){ (const char *)*at + sizeof(len), (size_t)len };
	*at += sizeof(len) + len;
	return s;
}

int64_t assay_gguf_whole(const struct assay_gguf_value *v, uint64_t i)
{
	const size_t bytes = kinds[v->kind].bytes;
	uint64_t bits = 0;

	memcpy(&bits, v->at + i * bytes, bytes);
	switch (v->kind) {
	case ASSAY_GGUF_I8:
		return (int8_t)bits;
	case ASSAY_GGUF_I16:
		return (int16_t)bits;
	case ASSAY_GGUF_I32:
		return (int32_t)bits;
	default:
		return (int64_t)bits;
	}
}

double assay_gguf_number(const struct assay_gguf_value *v, uint64_t i)
{
	float f;
	double d;

	if (v->kind == ASSAY_GGUF_F32) {
		memcpy(&f, v->at + i * sizeof(f), sizeof(f));
		return (double)f;
	}
	if (v->kind == ASSAY_GGUF_F64) {
		memcpy(&d, v->at + i * sizeof(d), sizeof(d));
		return d;
	}
	if (v->kind == ASSAY_GGUF_U64)
		return (double)(uint64_t)assay_gguf_whole(v, i);
	return (double)assay_gguf_whole(v, i);
}

bool assay_gguf_string_is(struct assay_gguf_string s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.s, text, s.len);
}

/* ---- by key ---- */

static int wrong_kind(const struct assay_gguf_value *v, const char *wanted, struct assay_reason *why)
{
	return refuse(why, "'%.*s' is %s%s, expected %s", SHOWN(v->key), v->is_array ? "an array of " : "",
		      kinds[v->kind].name, wanted);
}

static bool is_whole(const struct assay_gguf_value *v)
{
	return !v->is_array && v->kind != ASSAY_GGUF_F32 && v->kind != ASSAY_GGUF_F64 && v->kind != ASSAY_GGUF_BOOL &&
	       v->kind != ASSAY_GGUF_STRING;
}

int assay_gguf_int(const struct assay_gguf *g, const char *key, int64_t *out, struct assay_reason *why)
{
	const struct assay_gguf_value *v = assay_gguf_value(g, key);

	if (!v)
		return 1;
	if (!is_whole(v))
		return wrong_kind(v, "a whole number", why);
	if (v->kind == ASSAY_GGUF_U64 && assay_gguf_whole(v, 0) < 0)
		return refuse(why, "'%s' is more than 2^63", key);
	*out = assay_gguf_whole(v, 0);
	return 0;
}

int assay_gguf_float(const struct assay_gguf *g, const char *key, double *out, struct assay_reason *why)
{
	const struct assay_gguf_value *v = assay_gguf_value(g, key);

	if (!v)
		return 1;
	if (v->is_array || v->kind == ASSAY_GGUF_STRING || v->kind == ASSAY_GGUF_BOOL)
		return wrong_kind(v, "a number", why);
	*out = assay_gguf_number(v, 0);
	return 0;
}

int assay_gguf_bool(const struct assay_gguf *g, const char *key, bool *out, struct assay_reason *why)
{
	const struct assay_gguf_value *v = assay_gguf_value(g, key);

	if (!v)
		return 1;
	if (v->is_array || v->kind != ASSAY_GGUF_BOOL)
		return wrong_kind(v, "a bool", why);
	*out = assay_gguf_whole(v, 0);
	return 0;
}

int assay_gguf_text(const struct assay_gguf *g, const char *key, struct assay_gguf_string *out,
		    struct assay_reason *why)
{
	const struct assay_gguf_value *v = assay_gguf_value(g, key);
	const uint8_t *at;

	if (!v)
		return 1;
	if (v->is_array || v->kind != ASSAY_GGUF_STRING)
		return wrong_kind(v, "a string", why);
	at = v->at;
	*out = assay_gguf_next_string(&at);
	return 0;
}

int assay_gguf_array(const struct assay_gguf *g, const char *key, enum assay_gguf_kind kind,
		     const struct assay_gguf_value **out, struct assay_reason *why)
{
	const struct assay_gguf_value *v = assay_gguf_value(g, key);
	char wanted[32];

	if (!v)
		return 1;
	snprintf(wanted, sizeof(wanted), "an array of %s", kinds[kind].name);
	if (!v->is_array || v->kind != kind)
		return wrong_kind(v, wanted, why);
	*out = v;
	return 0;
}
