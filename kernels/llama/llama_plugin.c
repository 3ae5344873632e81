/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variants "llama_cpp": the tokenizer of llama.cpp, for the smallest model that has the vocabulary of the op. The
 * library reads files alone, so that one is written to memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "assay/op_tokenizer.h"
#include "gguf/tokenizer.h"
#include "gguf/writer.h"
#include "llama_library.h"

#define WIDTH 32

static int supports_decode(const struct assay_shape *shape, struct assay_reason *why)
{
	(void)shape;
	return llama_library_find(why);
}

static int supports_encode(const struct assay_shape *shape, struct assay_reason *why)
{
	if (shape->axis[ASSAY_TOKENIZER_CACHE] == ASSAY_TOKENIZER_COLD)
		return llama_library_find(why);
	snprintf(why->text, sizeof(why->text), "llama.cpp has no word cache");
	return -1;
}

static void write_model(struct assay_gguf_writer *w, const struct assay_vocab *v)
{
	static const struct {
		const char *key;
		uint32_t value;
	} sizes[] = {
		{ "llama.context_length", 64 },      { "llama.embedding_length", WIDTH },
		{ "llama.block_count", 1 },          { "llama.feed_forward_length", WIDTH },
		{ "llama.attention.head_count", 1 }, { "llama.rope.dimension_count", WIDTH },
	};
	static const char *const matrices[] = { "attn_q",   "attn_k", "attn_v",  "attn_output",
						"ffn_gate", "ffn_up", "ffn_down" };
	static const float zeros[WIDTH];
	const struct assay_gguf_type *f32 = assay_gguf_type_named("f32");
	const size_t n_matrices = sizeof(matrices) / sizeof(matrices[0]);
	char name[64];

	assay_gguf_write_text(w, "general.architecture", "llama");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		assay_gguf_write_u32(w, sizes[i].key, sizes[i].value);
	assay_gguf_write_f32(w, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
	assay_vocab_write(w, v);
	assay_gguf_write_tensor(w, "token_embd.weight", f32, (uint64_t)v->n_tokens, WIDTH);
	assay_gguf_write_tensor(w, "output_norm.weight", f32, 0, WIDTH);
	assay_gguf_write_tensor(w, "blk.0.attn_norm.weight", f32, 0, WIDTH);
	assay_gguf_write_tensor(w, "blk.0.ffn_norm.weight", f32, 0, WIDTH);
	for (size_t i = 0; i < n_matrices; i++) {
		snprintf(name, sizeof(name), "blk.0.%s.weight", matrices[i]);
		assay_gguf_write_tensor(w, name, f32, WIDTH, WIDTH);
	}
	assay_gguf_write_pad(w);
	for (size_t i = 0; i < (size_t)v->n_tokens + 3 + n_matrices * WIDTH; i++)
		assay_gguf_write_data(w, zeros, sizeof(zeros));
	assay_gguf_write_pad(w);
}

static int prepare(struct assay_job *job)
{
	const struct assay_tokenizer_state *s = job->op_state;
	struct llama_library *l = calloc(1, sizeof(*l));
	const int fd = memfd_create("vocabulary.gguf", MFD_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");
	struct assay_gguf_writer w;
	struct assay_reason why = { "cannot write its vocabulary to memory" };
	char path[64];
	int rc = -1;

	if (f && l) {
		assay_gguf_write_begin(&w, f);
		write_model(&w, s->vocab);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		rc = assay_gguf_write_end(&w) ? -1 : llama_library_open(l, path, &why);
	}
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	job->state = l;
	if (!rc)
		return 0;
	free(l);
	job->state = NULL;
	return job->host->fail(job, "%s", why.text);
}

static void release(struct assay_job *job)
{
	llama_library_close(job->state);
	free(job->state);
	job->state = NULL;
}

static int run_encode(struct assay_job *job)
{
	const uint64_t begin_ns = job->host->now_ns();
	const struct llama_library *l = job->state;
	const struct assay_tensor *text = &job->tensors[ASSAY_TOKENIZER_TEXT],
				  *ids = &job->tensors[ASSAY_TOKENIZER_IDS];
	int64_t *count = job->tensors[ASSAY_TOKENIZER_COUNT].data;

	*count = l->tokenize(l->vocab, text->data, (int32_t)text->bytes, ids->data,
			     (int32_t)(ids->bytes / sizeof(int32_t)), false, false);
	if (*count < 0)
		return job->host->fail(job, "llama.cpp makes more ids than there can be");
	assay_tokenizer_ran(job, begin_ns);
	return 0;
}

static int run_decode(struct assay_job *job)
{
	const uint64_t begin_ns = job->host->now_ns();
	const struct llama_library *l = job->state;
	const struct assay_tensor *text = &job->tensors[ASSAY_TOKENIZER_TEXT],
				  *ids = &job->tensors[ASSAY_TOKENIZER_IDS];
	const int64_t *count = job->tensors[ASSAY_TOKENIZER_COUNT].data;

	if (l->detokenize(l->vocab, ids->data, (int32_t)*count, text->data, (int32_t)text->bytes, false, false) !=
	    (int32_t)text->bytes)
		return job->host->fail(job, "the text of llama.cpp is not as long as that of the op");
	assay_tokenizer_ran(job, begin_ns);
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "tokenizer.encode",
	  .name = "llama_cpp",
	  .help = "llama_tokenize() of llama.cpp",
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .supports = supports_encode,
	  .prepare = prepare,
	  .run = run_encode,
	  .release = release },
	{ .op = "tokenizer.decode",
	  .name = "llama_cpp",
	  .help = "llama_detokenize() of llama.cpp",
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .supports = supports_decode,
	  .prepare = prepare,
	  .run = run_decode,
	  .release = release },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "llama",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
