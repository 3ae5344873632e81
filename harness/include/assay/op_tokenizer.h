/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ops tokenizer.encode and tokenizer.decode: a text becomes the ids of a vocabulary's tokens, and the text again.
 *
 * encode   text, U8 [bytes]    input, UTF-8
 *          ids, I32 [most]     scratch: the ids, from the front; what follows them is not read
 *          count, I64 [1]      output: how many there are
 * decode   ids and count       inputs, as tokenizer.encode defines them
 *          text                output: the same bytes again
 *
 * What the ids are. Byte-level BPE (ASSAY_VOCAB_BPE) cuts the text into pieces by the pattern of the vocabulary's
 * pre-tokenizer and each piece into bytes; then, as long as two neighbours in it are a merge, the merge of the lowest
 * rank is done, the leftmost one first. With `whole_words`, a piece that is a token is that token. SentencePiece's BPE
 * (ASSAY_VOCAB_SPM) writes U+2581 for spaces, begins with one where `space_prefix` is set, and cuts the text into
 * characters; as long as two neighbours make a token, the one of the highest score is made, the leftmost one first. A
 * character that is no token in the end becomes the tokens of its bytes.
 *
 * A byte that is not part of UTF-8 is a character of class OTHER that becomes the token of that byte, so that decoding
 * gives it back.
 */
#ifndef ASSAY_OP_TOKENIZER_H
#define ASSAY_OP_TOKENIZER_H

#include "plugin.h"

/* Indices into assay_job.tensors, of both directions. */
enum { ASSAY_TOKENIZER_TEXT = 0, ASSAY_TOKENIZER_IDS, ASSAY_TOKENIZER_COUNT };

/* Indices into assay_shape.axis. Decoding has no word cache. */
enum {
	ASSAY_TOKENIZER_VOCAB = 0, /* enum assay_vocab_pre, or ASSAY_N_PRES: SPM */
	ASSAY_TOKENIZER_CORPUS,
	ASSAY_TOKENIZER_BYTES,
	ASSAY_TOKENIZER_TOKENS, /* of the vocabulary */
	ASSAY_TOKENIZER_CACHE,  /* enum assay_tokenizer_cache */
	ASSAY_TOKENIZER_SLOTS,
};

/* Whether a call finds the words of the one before in its word cache. Without one, every call is cold. */
enum assay_tokenizer_cache { ASSAY_TOKENIZER_COLD = 0, ASSAY_TOKENIZER_WARM };

/*
 * Counters. A lookup asks whether two neighbours can be merged or whether a piece is a token; a merge is one that is
 * done. Each piece is a hit or a miss of the word cache, unless there is none.
 */
enum {
	ASSAY_TOKENIZER_LOOKUPS = 0,
	ASSAY_TOKENIZER_MERGES,
	ASSAY_TOKENIZER_HITS,
	ASSAY_TOKENIZER_MISSES,
	ASSAY_TOKENIZER_N_COUNTERS
};

enum assay_vocab_model { ASSAY_VOCAB_BPE = 0, ASSAY_VOCAB_SPM };

/* Patterns by their names in GGUF files. */
enum assay_vocab_pre { ASSAY_PRE_GPT_2 = 0, ASSAY_PRE_LLAMA_BPE, ASSAY_PRE_QWEN2, ASSAY_N_PRES };

/* The model of a value of the axis `vocab`. */
static inline uint32_t assay_tokenizer_model(int64_t vocab)
{
	return vocab == ASSAY_N_PRES ? ASSAY_VOCAB_SPM : ASSAY_VOCAB_BPE;
}

/* Kinds of tokens, as GGUF files number them. */
enum assay_token_type {
	ASSAY_TOKEN_NORMAL = 1,
	ASSAY_TOKEN_UNKNOWN,
	ASSAY_TOKEN_CONTROL, /* never comes from text that a user wrote */
	ASSAY_TOKEN_USER,    /* found in the text before it is cut */
	ASSAY_TOKEN_UNUSED,
	ASSAY_TOKEN_BYTE, /* the byte that it stands for, in SPM */
};

/* `size` is the op's own; it grows at its end. */
struct assay_vocab {
	uint32_t size;
	uint32_t model; /* enum assay_vocab_model */
	uint32_t pre;   /* enum assay_vocab_pre, of BPE; beyond it, in files: patterns for PCRE2 */
	int32_t n_tokens, n_merges;
	int32_t bos, eos, unknown; /* ids; -1: there is none */
	uint32_t space_prefix, whole_words;
	const uint8_t *bytes;  /* of all tokens, one after the other */
	const int64_t *starts; /* token i is bytes[starts[i]] to bytes[starts[i + 1] - 1] */
	const uint8_t *types;  /* enum assay_token_type of each */
	const float *scores;   /* of each, in SPM */
	int32_t (*merges)[3];  /* by rank: left id, right id, id of both together */
	int32_t eot;           /* of the end of a turn; -1: there is none */
	uint32_t add_bos;      /* a prompt begins with bos */
	const char *pre_name;  /* as the file has it, of BPE */
};

/* What job->op_state points to. */
struct assay_tokenizer_state {
	uint32_t size;
	uint32_t reserved;
	const struct assay_vocab *vocab;
	/* Of all calls of run(): a variant adds to them, because only the op knows how many tokens a call has. */
	uint64_t n_calls, ns;
};

static inline void assay_tokenizer_ran(struct assay_job *job, uint64_t begin_ns)
{
	struct assay_tokenizer_state *s = (struct assay_tokenizer_state *)job->op_state;

	s->n_calls++;
	s->ns += job->host->now_ns() - begin_ns;
}

/* The most ids that @bytes of text can become. */
static inline int64_t assay_tokenizer_most_ids(uint32_t model, int64_t bytes)
{
	return model == ASSAY_VOCAB_SPM ? 4 * bytes + 4 : bytes;
}

#endif
