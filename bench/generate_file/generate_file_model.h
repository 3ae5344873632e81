/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a file: which architecture it has, and where its tensors lie. */
#ifndef ASSAY_GENERATE_FILE_MODEL_H
#define ASSAY_GENERATE_FILE_MODEL_H

#include "assay/op_generate_file.h"
#include "gguf/gguf.h"

struct file_model {
	struct assay_gguf gguf;
	struct assay_file_layer *layers;
};

/*
 * Open @path and fill @out, whose pointers lie in @f. 0, or -1 with the reason, which names the file, and nothing to
 * close.
 */
int assay_file_model_open(struct file_model *f, const char *path, struct assay_file_model *out,
			  struct assay_reason *why);
void assay_file_model_close(struct file_model *f);
double assay_file_model_bytes(const struct assay_gguf *g); /* of all tensors */
/* Values of all matrices that a token goes through; the head counts. */
double assay_file_model_parameters(const struct assay_file_model *m);

#endif
