/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llama.cpp as a shared library that is found at run time: $ASSAY_LLAMA, or libllama.so. Prototypes: llama.h. Its
 * structs change from version to version, so that none of their members is used.
 */
#ifndef LLAMA_LIBRARY_H
#define LLAMA_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/plugin.h"

/* A model that is loaded for its vocabulary. */
struct llama_library {
	void *model;
	const void *vocab;
	void (*free_model)(void *model);
	/* The number of ids, or a negative one where they do not fit. */
	int32_t (*tokenize)(const void *vocab, const char *text, int32_t n, int32_t *ids, int32_t most,
			    bool add_special, bool parse_special);
	/* Likewise of the text. */
	int32_t (*detokenize)(const void *vocab, const int32_t *ids, int32_t n, char *text, int32_t most,
			      bool remove_special, bool unparse_special);
};

/* Can the library be loaded? 0, or -1 with the reason. */
int llama_library_find(struct assay_reason *why);
/* Load the model of a GGUF file. 0; or -1 with the reason, and nothing to close. */
int llama_library_open(struct llama_library *l, const char *path, struct assay_reason *why);
void llama_library_close(struct llama_library *l);

#endif
