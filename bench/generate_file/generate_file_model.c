/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that would change the numbers and is not computed here is refused by name: a tensor without a use, a
 * scaled rotation, a type without kernels.
 */
#include "generate_file_model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The differences between architectures. Another one of this family needs no more than an entry here. */
static const struct architecture {
	const char *name;
	bool halves, relu2, sub_norms;
} architectures[] = {
	{ "llama", false, false, false },
	{ "bitnet", true, false, true },
	{ "bitnet-25", true, true, true },
	{ "bitnet-b1.58", true, true, true },
};

/* A model that is larger than any there is would only be a way to overflow. */
#define MOST (1 << 24)

struct loading {
	struct assay_gguf *g;
	const struct architecture *a;
	struct assay_file_model *m;
	struct assay_reason *why;
	size_t n_used; /* tensors */
};

static int refuse(struct loading *l, const char *fmt, ...) ASSAY_PRINTF(2, 3);
static int refuse(struct loading *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->why->text, sizeof(l->why->text), fmt, ap);
	va_end(ap);
	return -1;
}

/* ---- metadata ---- */

static int find_architecture(struct loading *l)
{
	struct assay_gguf_string name = { "", 0 };
	char known[128] = "";
	size_t len = 0;

	if (assay_gguf_text(l->g, "general.architecture", &name, l->why) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(architectures) / sizeof(architectures[0]); i++) {
		if (assay_gguf_string_is(name, architectures[i].name)) {
			l->a = &architectures[i];
			return 0;
		}
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", i ? ", " : "", architectures[i].name);
	}
	return refuse(l, "its architecture is '%.*s', expected one of %s", (int)(name.len < 32 ? name.len : 32), name.s,
		      known);
}

static const char *key_of(const struct loading *l, const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s.%s", l->a->name, name);
	return buf;
}

/* A whole number from 1 on. @def 0: it has to be there. */
static int take(struct loading *l, const char *name, int64_t def, int32_t *out)
{
	char key[96];
	int64_t v = def;
	const int rc = assay_gguf_int(l->g, key_of(l, name, key, sizeof(key)), &v, l->why);

	if (rc < 0)
		return -1;
	if (rc && !def)
		return refuse(l, "it has no '%s'", key);
	if (v < 1 || v > MOST)
		return refuse(l, "'%s' is %" PRId64 ", expected 1 to %d", key, v, MOST);
	*out = (int32_t)v;
	return 0;
}

static int take_float(struct loading *l, const char *name, double def, float *out)
{
	char key[96];
	double v = def;

	if (assay_gguf_float(l->g, key_of(l, name, key, sizeof(key)), &v, l->why) < 0)
		return -1;
	if (!(v > 0 && v < 1e30))
		return refuse(l, "'%s' is %g, expected a number above 0", key, v);
	*out = (float)v;
	return 0;
}

static int check_scaling(struct loading *l)
{
	struct assay_gguf_string type = { "none", 4 };
	char key[96];

	if (assay_gguf_text(l->g, key_of(l, "rope.scaling.type", key, sizeof(key)), &type, l->why) < 0)
		return -1;
	if (!assay_gguf_string_is(type, "none"))
		return refuse(l, "its rotary embedding is scaled by '%.*s', expected no scaling",
			      (int)(type.len < 32 ? type.len : 32), type.s);
	return 0;
}

static int take_sizes(struct loading *l)
{
	struct assay_file_model *m = l->m;

	if (take(l, "block_count", 0, &m->layers) || take(l, "embedding_length", 0, &m->dim) ||
	    take(l, "attention.head_count", 0, &m->heads) ||
	    take(l, "attention.head_count_kv", m->heads, &m->kv_heads) || take(l, "feed_forward_length", 0, &m->ffn) ||
	    take(l, "context_length", 0, &m->context) ||
	    take(l, "attention.key_length", m->dim / m->heads ? m->dim / m->heads : 1, &m->head_dim) ||
	    take(l, "rope.dimension_count", m->head_dim, &m->rotated) ||
	    take_float(l, "attention.layer_norm_rms_epsilon", 1e-5, &m->eps) ||
	    take_float(l, "rope.freq_base", 10000, &m->freq_base) || check_scaling(l))
		return -1;
	if (m->heads % m->kv_heads || m->rotated % 2 || m->rotated > m->head_dim)
		return refuse(l, "%d heads of %d values, %d of them rotated, over %d of keys do not go together",
			      m->heads, m->head_dim, m->rotated, m->kv_heads);
	if ((int64_t)m->heads * m->head_dim > MOST)
		return refuse(l, "%d heads of %d values are too many", m->heads, m->head_dim);
	m->halves = l->a->halves;
	m->relu2 = l->a->relu2;
	return 0;
}

/* ---- tensors ---- */

static const struct assay_gguf_tensor *find(struct loading *l, const char *name, int layer, bool needed)
{
	const struct assay_gguf_tensor *t;
	char full[64];

	snprintf(full, sizeof(full), layer < 0 ? "%s.weight" : "blk.%2$d.%1$s.weight", name, layer);
	t = assay_gguf_tensor(l->g, full);
	if (t)
		l->n_used++;
	else if (needed)
		refuse(l, "it has no tensor '%s'", full);
	return t;
}

static int shaped(struct loading *l, const struct assay_gguf_tensor *t, int64_t rows, int64_t cols)
{
	if (t->dims[0] == (uint64_t)cols && t->dims[1] == (uint64_t)rows && t->dims[2] == 1 && t->dims[3] == 1)
		return 0;
	return refuse(l, "tensor '%.*s' is %" PRIu64 " x %" PRIu64 ", expected %" PRId64 " x %" PRId64,
		      (int)t->name.len, t->name.s, t->dims[0], t->dims[1], cols, rows);
}

static uint32_t rounding_of(const struct assay_gguf_type *t)
{
	static const struct {
		const char *name;
		uint32_t rounding;
	} roundings[] = {
		{ "f32", ASSAY_FILE_ROUND_F32 },          { "f16", ASSAY_FILE_ROUND_F16 },
		{ "bf16", ASSAY_FILE_ROUND_BF16 },        { "q8_0", ASSAY_FILE_ROUND_BLOCKS_32 },
		{ "q6_k", ASSAY_FILE_ROUND_BLOCKS_256 },  { "tq1_0", ASSAY_FILE_ROUND_BLOCKS_256 },
		{ "tq2_0", ASSAY_FILE_ROUND_BLOCKS_256 }, { "i2_s", ASSAY_FILE_ROUND_TOKEN },
	};

	for (size_t i = 0; i < sizeof(roundings) / sizeof(roundings[0]); i++)
		if (!strcmp(t->name, roundings[i].name))
			return roundings[i].rounding;
	return ASSAY_FILE_N_ROUNDINGS;
}

static int matrix(struct loading *l, const struct assay_gguf_tensor *t, int64_t rows, int64_t cols,
		  struct assay_file_matrix *out)
{
	char known[128];

	if (!t || shaped(l, t, rows, cols))
		return -1;
	*out = (struct assay_file_matrix){
		.data = t->data,
		.rows = rows,
		.cols = cols,
		.blocks = cols / t->type->block,
		.row_bytes = cols / t->type->block * t->type->bytes,
		.scale = assay_gguf_tensor_scale(t->type, t->data, t->bytes),
		.rounding = rounding_of(t->type),
		.type = t->type->id,
		.decode = t->type->decode,
	};
	if (out->rounding == ASSAY_FILE_ROUND_F32 && (uintptr_t)t->data % sizeof(float))
		return refuse(l, "tensor '%.*s' does not begin at a multiple of 4 bytes", (int)t->name.len, t->name.s);
	if (out->rounding < ASSAY_FILE_N_ROUNDINGS)
		return 0;
	assay_gguf_types_with_kernels(known, sizeof(known));
	return refuse(l, "tensor '%.*s' is of type %s, which has no kernels; expected one of %s", (int)t->name.len,
		      t->name.s, t->type->name, known);
}

static int gains(struct loading *l, const struct assay_gguf_tensor *t, int64_t n, const float **out)
{
	if (!t || shaped(l, t, 1, n))
		return -1;
	if (strcmp(t->type->name, "f32") != 0 || (uintptr_t)t->data % sizeof(float))
		return refuse(l, "tensor '%.*s' is of type %s, expected f32 at a multiple of 4 bytes", (int)t->name.len,
			      t->name.s, t->type->name);
	*out = (const float *)(const void *)t->data;
	return 0;
}

static int load_layer(struct loading *l, int layer, struct assay_file_layer *out)
{
	const struct assay_file_model *m = l->m;
	const int64_t q = (int64_t)m->heads * m->head_dim, kv = (int64_t)m->kv_heads * m->head_dim;
	const struct {
		const char *name;
		int64_t rows, cols;
	} matrices[ASSAY_FILE_N_MATRICES] = {
		[ASSAY_FILE_WQ] = { "attn_q", q, m->dim },           [ASSAY_FILE_WK] = { "attn_k", kv, m->dim },
		[ASSAY_FILE_WV] = { "attn_v", kv, m->dim },          [ASSAY_FILE_WO] = { "attn_output", m->dim, q },
		[ASSAY_FILE_WGATE] = { "ffn_gate", m->ffn, m->dim }, [ASSAY_FILE_WUP] = { "ffn_up", m->ffn, m->dim },
		[ASSAY_FILE_WDOWN] = { "ffn_down", m->dim, m->ffn },
	};
	const struct {
		const char *name;
		int64_t n;
	} norms[ASSAY_FILE_N_NORMS] = {
		[ASSAY_FILE_NORM_ATTN] = { "attn_norm", m->dim },
		[ASSAY_FILE_NORM_FFN] = { "ffn_norm", m->dim },
		[ASSAY_FILE_NORM_ATTN_SUB] = { "attn_sub_norm", q },
		[ASSAY_FILE_NORM_FFN_SUB] = { "ffn_sub_norm", m->ffn },
	};

	for (int i = 0; i < ASSAY_FILE_N_MATRICES; i++)
		if (matrix(l, find(l, matrices[i].name, layer, true), matrices[i].rows, matrices[i].cols,
			   &out->matrices[i]))
			return -1;
	for (int i = 0; i < (l->a->sub_norms ? ASSAY_FILE_N_NORMS : ASSAY_FILE_NORM_ATTN_SUB); i++)
		if (gains(l, find(l, norms[i].name, layer, true), norms[i].n, &out->norms[i]))
			return -1;
	return 0;
}

/* The vocabulary has as many tokens as the embedding has rows. */
static int load_tables(struct loading *l)
{
	const struct assay_gguf_tensor *t = find(l, "token_embd", -1, true), *head;
	struct assay_file_model *m = l->m;

	if (!t)
		return -1;
	if (t->dims[1] > MOST)
		return refuse(l, "it has %" PRIu64 " tokens, expected %d at most", t->dims[1], MOST);
	m->vocab = (int32_t)t->dims[1];
	if (matrix(l, t, m->vocab, m->dim, &m->embedding))
		return -1;
	head = find(l, "output", -1, false);
	return matrix(l, head ? head : t, m->vocab, m->dim, &m->head) ||
			       gains(l, find(l, "output_norm", -1, true), m->dim, &m->norm)
		       ? -1
		       : 0;
}

/* Names a tensor that none of the layers has. */
static int check_unused(struct loading *l)
{
	static const char *const names[] = { "token_embd", "output",      "output_norm",   "attn_q",      "attn_k",
					     "attn_v",     "attn_output", "ffn_gate",      "ffn_up",      "ffn_down",
					     "attn_norm",  "ffn_norm",    "attn_sub_norm", "ffn_sub_norm" };

	if (l->n_used == l->g->n_tensors)
		return 0;
	for (size_t i = 0; i < l->g->n_tensors; i++) {
		const struct assay_gguf_string s = l->g->tensors[i].name;
		bool known = false;

		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			char end[64];
			const int n = snprintf(end, sizeof(end), "%s.weight", names[k]);

			known |= s.len >= (size_t)n && !memcmp(s.s + s.len - n, end, (size_t)n);
		}
		if (!known)
			return refuse(l, "tensor '%.*s' is not used by the architecture %s", (int)s.len, s.s,
				      l->a->name);
	}
	return refuse(l, "it has %zu tensors, of which the architecture %s uses %zu", l->g->n_tensors, l->a->name,
		      l->n_used);
}

static int check_memory(struct loading *l)
{
	const double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
		     bytes = assay_file_model_bytes(l->g);

	return bytes <= all ? 0
			    : refuse(l, "its tensors have %.1f GiB, and this machine has %.1f GiB of memory",
				     bytes / (1 << 30), all / (1 << 30));
}

int assay_file_model_open(struct file_model *f, const char *path, struct assay_file_model *out,
			  struct assay_reason *why)
{
	struct assay_reason reason = { "" };
	struct loading l = { .g = &f->gguf, .m = out, .why = &reason };
	int rc;

	*f = (struct file_model){ .layers = NULL };
	*out = (struct assay_file_model){ .layers = 0 };
	rc = assay_gguf_open(&f->gguf, path, &reason);
	if (!rc)
		rc = check_memory(&l) || find_architecture(&l) || take_sizes(&l) || load_tables(&l) ? -1 : 0;
	/* each layer has tensors of its own, which the file has paid for */
	if (!rc && (size_t)out->layers > f->gguf.n_tensors)
		rc = refuse(&l, "it has %d layers and %zu tensors", out->layers, f->gguf.n_tensors);
	if (!rc) {
		f->layers = calloc((size_t)out->layers, sizeof(*f->layers));
		rc = f->layers ? 0 : refuse(&l, "out of memory");
	}
	for (int i = 0; i < out->layers && !rc; i++)
		rc = load_layer(&l, i, &f->layers[i]);
	if (!rc)
		rc = check_unused(&l);
	out->layer = f->layers;
	if (!rc)
		return 0;
	snprintf(why->text, sizeof(why->text), "cannot run '%.60s': %.180s", path, reason.text);
	assay_file_model_close(f);
	return -1;
}

void assay_file_model_close(struct file_model *f)
{
	free(f->layers);
	assay_gguf_close(&f->gguf);
	f->layers = NULL;
}

double assay_file_model_bytes(const struct assay_gguf *g)
{
	double bytes = 0;

	for (size_t i = 0; i < g->n_tensors; i++)
		bytes += (double)g->tensors[i].bytes;
	return bytes;
}

double assay_file_model_parameters(const struct assay_file_model *m)
{
	const double q = (double)m->heads * m->head_dim, kv = (double)m->kv_heads * m->head_dim;

	return m->layers * ((2 * q + 2 * kv) * m->dim + 3.0 * m->ffn * m->dim) + (double)m->vocab * m->dim;
}
