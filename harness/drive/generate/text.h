/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text in place of ids, by the tokenizer that the file of a model has: a prompt becomes ids, and an answer becomes text
 * as its tokens come.
 */
#ifndef ASSAY_DRIVE_GENERATE_TEXT_H
#define ASSAY_DRIVE_GENERATE_TEXT_H

#include "base/err.h"
#include "base/text.h"
#include "gguf/tokenizer.h"

struct assay_model_text {
	struct tokenizer_vocab vocab;
	struct assay_tokenizer tokenizer;
	struct assay_reason absent; /* why there is no tokenizer; "": there is one */

	/* of the answer: bytes that were not handed on */
	uint8_t *held;
	size_t n_held, room;
	bool short_of_memory;
};

/* Read the tokenizer of @path, or the reason why there is none. */
void assay_model_text_open(struct assay_model_text *t, const char *path);
void assay_model_text_close(struct assay_model_text *t);

/*
 * The ids of a prompt, malloc'ed, with the token before them that the file asks for. @special: the names of control
 * tokens stand for these tokens. ASSAY_EUSAGE says why there is no tokenizer.
 */
int assay_model_text_encode(struct assay_model_text *t, const char *text, bool special, int32_t **ids, size_t *n,
			    struct assay_err *err);

void assay_model_text_begin(struct assay_model_text *t);
/*
 * Add a token to the answer. True: the answer ends here, because the token is one that ends a text or a turn, or
 * because one of @stops is in it, before which the answer ends.
 */
bool assay_model_text_add(struct assay_model_text *t, int32_t id, const char *const *stops, uint32_t n_stops);
/*
 * Move to @out all whole characters that cannot be the beginning of one of @stops; with @last all that is left. Bytes
 * that are not UTF-8, and characters of the number 0, are U+FFFD there.
 */
void assay_model_text_take(struct assay_model_text *t, const char *const *stops, uint32_t n_stops, bool last,
			   struct assay_text *out);

#endif
