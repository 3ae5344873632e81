/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights are drawn so that each matrix gives outputs of about unit variance from inputs of unit variance, and the head
 * logits with a standard deviation of 2.5. Tensor number n of the file is Philox stream n. Ternary weights are the same
 * numbers in every type that can hold them, because their scale is one that half precision can hold.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/op_blocks.h"
#include "assay/random.h"
#include "base/file.h"
#include "drive/model/model.h"
#include "gguf/tokenizer.h"
#include "gguf/writer.h"

struct synth {
	const struct assay_synth *q;
	bool bitnet;
	const struct assay_gguf_type *type, *f32, *table; /* of matrices, of norms, of the embedding and the head */
	uint64_t layers, width, heads, kv_heads, ffn, vocab, context;
	struct assay_gguf from; /* that has the vocabulary */
	struct tokenizer_vocab trained;
	struct assay_gguf_writer w;
	uint32_t stream;
	float *row;
	uint8_t *coded;
};

/* ---- what is asked for ---- */

#define TRAINED_TOKENS 8192
/* Every vocabulary begins with three special tokens and the bytes. */
#define FIRST_BYTE 3
#define FIRST_WORD (FIRST_BYTE + 256)

static uint64_t or_else(uint64_t v, uint64_t def)
{
	return v ? v : def;
}

static int take_types(struct synth *s, struct assay_err *err)
{
	const char *architecture = s->q->architecture ? s->q->architecture : "llama",
		   *type = s->q->type ? s->q->type : "f32";
	char known[128];

	s->bitnet = !strcmp(architecture, "bitnet");
	if (!s->bitnet && strcmp(architecture, "llama") != 0)
		return assay_err_set(err, ASSAY_EUSAGE, "unknown architecture '%s': expected llama or bitnet",
				     architecture);
	s->type = assay_gguf_type_named(type);
	if (!s->type || !s->type->encode) {
		assay_gguf_types_with_kernels(known, sizeof(known));
		return assay_err_set(err, ASSAY_EUSAGE, "unknown type '%s': expected one of %s", type, known);
	}
	s->f32 = assay_gguf_type_named("f32");
	s->table = s->type->ternary ? assay_gguf_type_named("f16") : s->type;
	return 0;
}

static int train_vocab(struct synth *s, struct assay_err *err)
{
	const char *name = s->q->vocab_train;
	struct assay_reason why = { "" };
	int64_t k = 0;

	while (assay_vocab_names[k] && strcmp(assay_vocab_names[k], name) != 0)
		k++;
	if (!assay_vocab_names[k])
		return assay_err_set(err, ASSAY_EUSAGE,
				     "unknown vocabulary '%s': expected gpt-2, llama-bpe, qwen2 or spm", name);
	s->vocab = or_else(s->q->vocab, TRAINED_TOKENS);
	if (s->vocab < FIRST_WORD)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "cannot train a vocabulary of %" PRIu64 " tokens: expected %d or more", s->vocab,
				     FIRST_WORD);
	if (assay_vocab_train_seeded(&s->trained, k, (int32_t)s->vocab, s->q->seed, &why))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot train a vocabulary of %" PRIu64 " tokens: %s", s->vocab,
				     why.text);
	return 0;
}

static int take_vocab(struct synth *s, struct assay_err *err)
{
	const struct assay_gguf_value *tokens = NULL;
	struct assay_reason why = { "" };
	int rc;

	if (s->q->vocab_from && (s->q->vocab_train || s->q->vocab))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--vocab-from takes the vocabulary of a file as it is: leave out %s",
				     s->q->vocab_train ? "--vocab-train" : "--vocab");
	if (s->q->vocab_train)
		return train_vocab(s, err);
	s->vocab = or_else(s->q->vocab, 512);
	if (!s->q->vocab_from)
		return 0;
	if (assay_gguf_open(&s->from, s->q->vocab_from, &why))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot read '%s': %s", s->q->vocab_from, why.text);
	rc = assay_gguf_array(&s->from, "tokenizer.ggml.tokens", ASSAY_GGUF_STRING, &tokens, &why);
	if (rc || !tokens->n)
		return assay_err_set(err, ASSAY_EUSAGE, "'%s' has no vocabulary%s%s", s->q->vocab_from,
				     rc < 0 ? ": " : "", why.text);
	s->vocab = tokens->n;
	return 0;
}

static int take_sizes(struct synth *s, struct assay_err *err)
{
	const struct assay_synth *q = s->q;

	s->layers = or_else(q->layers, 2);
	s->width = or_else(q->width, 256);
	s->heads = or_else(q->heads, 4);
	s->kv_heads = or_else(q->kv_heads, s->heads % 2 ? s->heads : s->heads / 2);
	s->ffn = or_else(q->ffn, 2 * s->width);
	s->context = or_else(q->context, 1024);
	if (s->width % s->heads || s->width / s->heads % 2 || s->heads % s->kv_heads)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "width %" PRIu64 " with %" PRIu64 " heads and %" PRIu64
				     " of keys and values: expected heads of an even size, and the same number of "
				     "them for each of keys and values",
				     s->width, s->heads, s->kv_heads);
	if (s->width % s->type->block || s->ffn % s->type->block)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "width %" PRIu64 " and ffn %" PRIu64 ": %s takes multiples of %" PRIu32, s->width,
				     s->ffn, s->type->name, s->type->block);
	return 0;
}

/* ---- metadata ---- */

static void put_u32(struct synth *s, const char *name, uint64_t v)
{
	char key[64];

	snprintf(key, sizeof(key), "%s.%s", s->bitnet ? "bitnet" : "llama", name);
	assay_gguf_write_u32(&s->w, key, (uint32_t)v);
}

static void put_f32(struct synth *s, const char *name, float v)
{
	char key[64];

	snprintf(key, sizeof(key), "%s.%s", s->bitnet ? "bitnet" : "llama", name);
	assay_gguf_write_f32(&s->w, key, v);
}

/*
 * A vocabulary of bytes, as sentencepiece has them for what no piece covers, and of words that no text has: other
 * programs load no file without one.
 */
static void put_token(struct synth *s, uint64_t i)
{
	static const char *const special[FIRST_BYTE] = { "<unk>", "<s>", "</s>" };
	char text[32];

	if (i < FIRST_BYTE)
		snprintf(text, sizeof(text), "%s", special[i]);
	else if (i < FIRST_WORD)
		snprintf(text, sizeof(text), "<0x%02X>", (unsigned)(i - FIRST_BYTE));
	else
		snprintf(text, sizeof(text), "\xe2\x96\x81w%" PRIu64, i);
	assay_gguf_write_string(&s->w, text);
}

static void put_vocab(struct synth *s)
{
	static const uint32_t types[] = { 2, 3, 3, 6, 1 }; /* unknown, control, control, byte, normal */

	assay_gguf_write_text(&s->w, "tokenizer.ggml.model", s->vocab < FIRST_WORD ? "no_vocab" : "llama");
	if (s->vocab < FIRST_WORD)
		return;
	assay_gguf_write_array(&s->w, "tokenizer.ggml.tokens", ASSAY_GGUF_STRING, s->vocab);
	for (uint64_t i = 0; i < s->vocab; i++)
		put_token(s, i);
	assay_gguf_write_array(&s->w, "tokenizer.ggml.scores", ASSAY_GGUF_F32, s->vocab);
	for (uint64_t i = 0; i < s->vocab; i++)
		assay_gguf_write_data(&s->w, &(float){ i < FIRST_WORD ? 0 : -(float)(i - FIRST_WORD) }, 4);
	assay_gguf_write_array(&s->w, "tokenizer.ggml.token_type", ASSAY_GGUF_I32, s->vocab);
	for (uint64_t i = 0; i < s->vocab; i++)
		assay_gguf_write_data(&s->w, &types[i < FIRST_BYTE ? i : i < FIRST_WORD ? 3 : 4], 4);
	assay_gguf_write_u32(&s->w, "tokenizer.ggml.bos_token_id", 1);
	assay_gguf_write_u32(&s->w, "tokenizer.ggml.eos_token_id", 2);
	assay_gguf_write_u32(&s->w, "tokenizer.ggml.unknown_token_id", 0);
}

static void put_metadata(struct synth *s)
{
	assay_gguf_write_text(&s->w, "general.architecture", s->bitnet ? "bitnet" : "llama");
	assay_gguf_write_text(&s->w, "general.name", "synthetic");
	put_u32(s, "vocab_size", s->vocab);
	put_u32(s, "context_length", s->context);
	put_u32(s, "embedding_length", s->width);
	put_u32(s, "block_count", s->layers);
	put_u32(s, "feed_forward_length", s->ffn);
	put_u32(s, "attention.head_count", s->heads);
	put_u32(s, "attention.head_count_kv", s->kv_heads);
	put_u32(s, "rope.dimension_count", s->width / s->heads);
	put_f32(s, "attention.layer_norm_rms_epsilon", 1e-5f);
	put_f32(s, "rope.freq_base", 10000);
	if (s->q->vocab_train)
		assay_vocab_write(&s->w, &s->trained.v);
	else if (!s->q->vocab_from)
		put_vocab(s);
	for (size_t i = 0; i < s->from.n_values; i++)
		if (s->from.values[i].key.len > 10 && !memcmp(s->from.values[i].key.s, "tokenizer.", 10))
			assay_gguf_write_value(&s->w, &s->from.values[i]);
}

/* ---- tensors ---- */

/* A vector has no rows. @std is of its values; 0: gains around 1. */
struct tensor {
	const struct assay_gguf_type *type;
	uint64_t rows, cols;
	double std;
	bool ternary;
};

/* Rounded to what half precision holds, which the scale of a block or a tensor is in most types. */
static float ternary_scale(const struct tensor *t)
{
	return assay_f32_of_half(assay_half_of_f32((float)(t->std * sqrt(2))));
}

static void draw_row(struct synth *s, const struct tensor *t, uint64_t row)
{
	const float scale = t->ternary ? ternary_scale(t) : (float)t->std;

	for (uint64_t i = 0; i < t->cols; i++) {
		const uint64_t at = row * t->cols + i;
		const uint32_t word = assay_random4(s->q->seed, s->stream, at / 4).v[at % 4];

		s->row[i] = t->ternary   ? scale * (float)((int)(word & 1) + (int)(word >> 1 & 1) - 1)
			    : t->std > 0 ? scale * assay_normal_f32(word)
					 : 1 + 0.1f * assay_normal_f32(word);
	}
}

static void put_data(struct synth *s, const struct tensor *t)
{
	const uint64_t rows = t->rows ? t->rows : 1;
	const float tail[8] = { ternary_scale(t) };

	for (uint64_t row = 0; row < rows; row++) {
		draw_row(s, t, row);
		t->type->encode(s->row, t->cols / t->type->block, s->coded);
		assay_gguf_write_data(&s->w, s->coded, t->cols / t->type->block * t->type->bytes);
	}
	assay_gguf_write_data(&s->w, tail, t->type->tail);
	assay_gguf_write_pad(&s->w);
	s->stream++;
}

/* All tensors twice in the same order: what they are, then their data. */
static void put_tensor(struct synth *s, bool data, const char *name, int layer, struct tensor t)
{
	char full[64];

	snprintf(full, sizeof(full), layer < 0 ? "%s.weight" : "blk.%2$d.%1$s.weight", name, layer);
	if (data)
		put_data(s, &t);
	else
		assay_gguf_write_tensor(&s->w, full, t.type, t.rows, t.cols);
}

static void put_matrix(struct synth *s, bool data, const char *name, int layer, uint64_t rows, uint64_t cols)
{
	put_tensor(s, data, name, layer,
		   (struct tensor){ s->type, rows, cols, 1 / sqrt((double)cols), s->bitnet || s->type->ternary });
}

static void put_gain(struct synth *s, bool data, const char *name, int layer, uint64_t n)
{
	put_tensor(s, data, name, layer, (struct tensor){ s->f32, 0, n, 0, false });
}

static void put_layer(struct synth *s, bool data, int layer)
{
	const uint64_t kv = s->width / s->heads * s->kv_heads;

	put_gain(s, data, "attn_norm", layer, s->width);
	put_matrix(s, data, "attn_q", layer, s->width, s->width);
	put_matrix(s, data, "attn_k", layer, kv, s->width);
	put_matrix(s, data, "attn_v", layer, kv, s->width);
	if (s->bitnet)
		put_gain(s, data, "attn_sub_norm", layer, s->width);
	put_matrix(s, data, "attn_output", layer, s->width, s->width);
	put_gain(s, data, "ffn_norm", layer, s->width);
	put_matrix(s, data, "ffn_gate", layer, s->ffn, s->width);
	put_matrix(s, data, "ffn_up", layer, s->ffn, s->width);
	if (s->bitnet)
		put_gain(s, data, "ffn_sub_norm", layer, s->ffn);
	put_matrix(s, data, "ffn_down", layer, s->width, s->ffn);
}

static void put_tensors(struct synth *s, bool data)
{
	const double head = 2.5 / sqrt((double)s->width);

	put_tensor(s, data, "token_embd", -1,
		   (struct tensor){ s->table, s->vocab, s->width, s->bitnet ? head : 1, false });
	for (uint64_t i = 0; i < s->layers; i++)
		put_layer(s, data, (int)i);
	put_gain(s, data, "output_norm", -1, s->width);
	/* the head of bitnet is its embedding */
	if (!s->bitnet)
		put_tensor(s, data, "output", -1, (struct tensor){ s->table, s->vocab, s->width, head, false });
}

/* ---- the file ---- */

static int cannot_write(const struct synth *s, struct assay_err *err)
{
	return assay_err_set(err, ASSAY_EUSAGE, "cannot write '%s': %s", s->q->path, strerror(errno));
}

static int write_file(struct synth *s, struct assay_err *err)
{
	char name[4096];
	const int fd = assay_file_open_temporary(s->q->path, name, sizeof(name));
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	int rc = 0;

	if (!f)
		return cannot_write(s, err);
	assay_gguf_write_begin(&s->w, f);
	put_metadata(s);
	put_tensors(s, false);
	assay_gguf_write_pad(&s->w);
	put_tensors(s, true);
	if (assay_gguf_write_end(&s->w))
		rc = cannot_write(s, err);
	if (fclose(f) && !rc)
		rc = cannot_write(s, err);
	if (!rc && rename(name, s->q->path))
		rc = cannot_write(s, err);
	if (rc)
		unlink(name);
	return rc;
}

static void describe(const struct synth *s, char *wrote, size_t size)
{
	const bool mute = !s->q->vocab_from && !s->q->vocab_train && s->vocab < FIRST_WORD;

	snprintf(wrote, size,
		 "%s model with matrices of %s: layers %" PRIu64 ", width %" PRIu64 ", tokens %" PRIu64
		 ", seed %" PRIu64 "%s",
		 s->bitnet ? "bitnet" : "llama", s->type->name, s->layers, s->width, s->vocab, s->q->seed,
		 mute ? "; it has no tokenizer, which takes 259 tokens or more" : "");
}

int assay_model_synth(const struct assay_synth *q, char *wrote, size_t size, struct assay_err *err)
{
	struct synth s = { .q = q };
	sigset_t old;
	size_t most;
	int rc = 0;

	if (!q->replace && assay_file_exists(q->path))
		return assay_err_set(err, ASSAY_EUSAGE, "'%s' is there already: --force replaces it", q->path);
	rc = take_types(&s, err);
	if (!rc)
		rc = take_vocab(&s, err);
	if (!rc)
		rc = take_sizes(&s, err);
	most = s.width > s.ffn ? s.width : s.ffn;
	s.row = calloc(most + 1, sizeof(*s.row));
	s.coded = calloc(most + 1, sizeof(*s.row));
	if (!rc && (!s.row || !s.coded))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for a row of %zu weights", most);
	if (!rc) {
		assay_file_hold_interrupts(&old);
		rc = write_file(&s, err);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		describe(&s, wrote, size);
	}
	free(s.row);
	free(s.coded);
	assay_gguf_close(&s.from);
	assay_vocab_release(&s.trained);
	return rc;
}
