/* SPDX-License-Identifier: Apache-2.0 */
/* GGUF files as users see them: what is in one, and new ones with seeded weights. */
#ifndef ASSAY_DRIVE_MODEL_MODEL_H
#define ASSAY_DRIVE_MODEL_MODEL_H

#include <stdbool.h>

#include "base/err.h"
#include "model/reports.h"

/*
 * Read what the file has. ASSAY_EUSAGE says why it is no sound GGUF file. Release with assay_model_report_release() in
 * either case.
 */
int assay_model_show(const char *path, struct assay_model_report *out, struct assay_err *err);

/* Is a model with this name a file? Other names have neither a '/' nor the ending. */
bool assay_model_is_file(const char *model);
/* ASSAY_EUSAGE: it is no sound GGUF file. Whether it can be run only the op knows. */
int assay_model_check(const char *path, struct assay_err *err);

/* A model to be written; 0 in a number is its default, which is that of the model `tiny`. */
struct assay_synth {
	const char *path;
	const char *architecture; /* NULL: llama; or bitnet, whose matrices are ternary */
	const char *type;         /* of the matrices, NULL: f32 */
	const char *vocab_from;   /* a GGUF file whose vocabulary it gets */
	const char
		*vocab_train; /* gpt-2, llama-bpe, qwen2 or spm: it is trained on the corpora; neither: one of bytes */
	uint64_t layers, width, heads, kv_heads, ffn, vocab, context;
	uint64_t seed;
	bool replace; /* a file that is there */
};

/*
 * Write it, and say in @wrote in a line which model it is. A file that is replaced stays until the new one is complete.
 * ASSAY_EUSAGE: the file is there, the numbers or the vocabularies do not go together, the other file has no
 * vocabulary, or this one cannot be written.
 */
int assay_model_synth(const struct assay_synth *q, char *wrote, size_t size, struct assay_err *err);

#endif
