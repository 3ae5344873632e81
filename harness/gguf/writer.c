/* SPDX-License-Identifier: Apache-2.0 */
#include "gguf/writer.h"

#include <string.h>

#define ALIGNMENT 32

void assay_gguf_write_data(struct assay_gguf_writer *w, const void *data, size_t n)
{
	fwrite(data, 1, n, w->f);
	w->at += n;
}

static void u32(struct assay_gguf_writer *w, uint32_t v)
{
	assay_gguf_write_data(w, &v, sizeof(v));
}

static void u64(struct assay_gguf_writer *w, uint64_t v)
{
	assay_gguf_write_data(w, &v, sizeof(v));
}

static void text(struct assay_gguf_writer *w, const char *s, size_t len)
{
	u64(w, len);
	assay_gguf_write_data(w, s, len);
}

static void key(struct assay_gguf_writer *w, const char *name, enum assay_gguf_kind kind)
{
	text(w, name, strlen(name));
	u32(w, kind);
	w->n_values++;
}

void assay_gguf_write_begin(struct assay_gguf_writer *w, FILE *f)
{
	*w = (struct assay_gguf_writer){ .f = f };
	assay_gguf_write_data(w, "GGUF", 4);
	u32(w, 3);
	u64(w, 0);
	u64(w, 0);
}

void assay_gguf_write_u32(struct assay_gguf_writer *w, const char *name, uint32_t v)
{
	key(w, name, ASSAY_GGUF_U32);
	u32(w, v);
}

void assay_gguf_write_bool(struct assay_gguf_writer *w, const char *name, bool v)
{
	key(w, name, ASSAY_GGUF_BOOL);
	assay_gguf_write_data(w, &(uint8_t){ v }, 1);
}

void assay_gguf_write_f32(struct assay_gguf_writer *w, const char *name, float v)
{
	key(w, name, ASSAY_GGUF_F32);
	assay_gguf_write_data(w, &v, sizeof(v));
}

void assay_gguf_write_text(struct assay_gguf_writer *w, const char *name, const char *v)
{
	key(w, name, ASSAY_GGUF_STRING);
	text(w, v, strlen(v));
}

void assay_gguf_write_array(struct assay_gguf_writer *w, const char *name, enum assay_gguf_kind kind, uint64_t n)
{
	key(w, name, ASSAY_GGUF_ARRAY);
	u32(w, kind);
	u64(w, n);
}

void assay_gguf_write_string(struct assay_gguf_writer *w, const char *s)
{
	text(w, s, strlen(s));
}

void assay_gguf_write_value(struct assay_gguf_writer *w, const struct assay_gguf_value *v)
{
	text(w, v->key.s, v->key.len);
	w->n_values++;
	if (v->is_array)
		u32(w, ASSAY_GGUF_ARRAY);
	u32(w, v->kind);
	if (v->is_array)
		u64(w, v->n);
	assay_gguf_write_data(w, v->at, v->bytes);
}

void assay_gguf_write_tensor(struct assay_gguf_writer *w, const char *name, const struct assay_gguf_type *type,
			     uint64_t rows, uint64_t cols)
{
	text(w, name, strlen(name));
	u32(w, rows ? 2 : 1);
	u64(w, cols);
	if (rows)
		u64(w, rows);
	u32(w, type->id);
	u64(w, w->offset);
	w->n_tensors++;
	w->offset += (rows ? rows : 1) * (cols / type->block) * type->bytes + type->tail;
	w->offset = (w->offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void assay_gguf_write_pad(struct assay_gguf_writer *w)
{
	static const char zero[ALIGNMENT];

	assay_gguf_write_data(w, zero, (ALIGNMENT - w->at % ALIGNMENT) % ALIGNMENT);
}

int assay_gguf_write_end(struct assay_gguf_writer *w)
{
	if (fseek(w->f, 8, SEEK_SET))
		return -1;
	u64(w, w->n_tensors);
	u64(w, w->n_values);
	return fflush(w->f) || ferror(w->f) ? -1 : 0;
}
