/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vocabularies of GGUF files. Files of BPE write each byte as a character of GPT-2's alphabet, in which printable
 * Latin-1 stands for itself and the other bytes are U+0100 and what follows.
 */
#include "gguf/tokenizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/unicode_classes.h"
#include "gguf/patterns.h"

const char *const assay_vocab_names[] = { "gpt-2", "llama-bpe", "qwen2", "spm", NULL };

#define MOST_TOKENS (1 << 24)

#define REFUSE(why, ...) (snprintf((why)->text, sizeof((why)->text), __VA_ARGS__), -1)

void assay_vocab_release(struct tokenizer_vocab *v)
{
	free(v->bytes);
	free(v->types);
	free(v->starts);
	free(v->scores);
	free(v->v.merges);
	*v = (struct tokenizer_vocab){ 0 };
}

/* ---- the alphabet of bytes ---- */

static bool stands_for_itself(uint32_t byte)
{
	return (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
}

/* The character of each byte. */
static void letters_of_bytes(uint16_t out[256])
{
	uint16_t next = 256;

	for (uint32_t b = 0; b < 256; b++)
		out[b] = stands_for_itself(b) ? (uint16_t)b : next++;
}

/* The byte of each character of the alphabet, which has 324; -1: it has none. */
static void byte_alphabet(int16_t out[324])
{
	uint16_t letters[256];

	letters_of_bytes(letters);
	memset(out, 0xff, 324 * sizeof(out[0]));
	for (int16_t b = 0; b < 256; b++)
		out[letters[b]] = b;
}

/* Write the bytes that @s stands for to @out, which has room for as many: their number, or -1. */
static int64_t bytes_of(const int16_t alphabet[324], const char *s, size_t len, uint8_t *out)
{
	int64_t n = 0, step;

	for (int64_t at = 0; at < (int64_t)len; at += step) {
		uint32_t c = assay_utf8((const uint8_t *)s + at, (int64_t)len - at, &step);

		if (c >= 324 || alphabet[c] < 0)
			return -1;
		out[n++] = (uint8_t)alphabet[c];
	}
	return n;
}

/* ---- tokens ---- */

/* llama.cpp knows some control tokens by their names, whatever the types and ids in the file say. */

/* Those that end a text or a turn, or that only stand between texts. */
static const char *const endings[] = {
	"</s>",
	"<EOT>",
	"<PAD>",
	"<REPO>",
	"<\uff5cend\u2581of\u2581sentence\uff5c>",
	"<end_of_turn>",
	"<end_of_utterance>",
	"<eos>",
	"<fim-pad>",
	"<fim-repo>",
	"<fim_pad>",
	"<reponame>",
	"<turn|>",
	"<|calls|>",
	"<|call|>",
	"<|end_of_text|>",
	"<|endoftext|>",
	"<|end|>",
	"<|eom_id|>",
	"<|eot_id|>",
	"<|file_sep|>",
	"<|fim_pad|>",
	"<|fim_repo|>",
	"<|flush|>",
	"<|im_end|>",
	"<|repo_name|>",
	"<|return|>",
	"<|tool_response>",
	"[EOS]",
	"[EOT]",
	"[PAD]",
	"[e~[",
	"_<EOT>",
};

/* Those that stand around a gap to be filled. */
static const char *const gaps[] = {
	"<MID>",
	"<PRE>",
	"<SUF>",
	"<\uff5cfim\u2581begin\uff5c>",
	"<\uff5cfim\u2581end\uff5c>",
	"<\uff5cfim\u2581hole\uff5c>",
	"<fim-middle>",
	"<fim-prefix>",
	"<fim-suffix>",
	"<fim_middle>",
	"<fim_prefix>",
	"<fim_suffix>",
	"<|code_middle|>",
	"<|code_prefix|>",
	"<|code_suffix|>",
	"<|fim_middle|>",
	"<|fim_prefix|>",
	"<|fim_suffix|>",
	"<|middle|>",
	"<|prefix|>",
	"<|suffix|>",
	"\u2581<MID>",
	"\u2581<PRE>",
	"\u2581<SUF>",
};

static bool is_one_of(const char *const names[], size_t n_names, const void *s, size_t n)
{
	for (size_t i = 0; i < n_names; i++)
		if (strlen(names[i]) == n && !memcmp(names[i], s, n))
			return true;
	return false;
}

static bool is_ending(const void *s, size_t n)
{
	return is_one_of(endings, sizeof(endings) / sizeof(endings[0]), s, n);
}

static bool is_gap(const void *s, size_t n)
{
	return is_one_of(gaps, sizeof(gaps) / sizeof(gaps[0]), s, n);
}

bool assay_vocab_ends(const struct assay_vocab *v, int32_t id)
{
	if (id < 0 || id >= v->n_tokens)
		return false;
	return id == v->eos || id == v->eot ||
	       (v->types[id] == ASSAY_TOKEN_CONTROL &&
		is_ending(v->bytes + v->starts[id], (size_t)(v->starts[id + 1] - v->starts[id])));
}

/* <0x0A> in SPM. */
static int byte_of_name(struct assay_gguf_string s)
{
	char text[7] = { 0 };
	unsigned byte;
	char end;

	if (s.len != 6)
		return -1;
	memcpy(text, s.s, 6);
	return sscanf(text, "<0x%2X%c", &byte, &end) == 2 && end == '>' ? (int)byte : -1;
}

/* The bytes of token @i, to @out; negative: it has none that its kind may have. */
static int64_t token_text(const struct assay_vocab *v, const int16_t alphabet[324], int32_t i,
			  struct assay_gguf_string s, uint8_t *out)
{
	int64_t n = -1;

	if (v->model == ASSAY_VOCAB_SPM && v->types[i] == ASSAY_TOKEN_BYTE) {
		int byte = byte_of_name(s);

		*out = (uint8_t)byte;
		return byte < 0 ? -1 : 1;
	}
	if (v->model == ASSAY_VOCAB_BPE && v->types[i] != ASSAY_TOKEN_CONTROL && v->types[i] != ASSAY_TOKEN_USER &&
	    v->types[i] != ASSAY_TOKEN_UNKNOWN)
		n = bytes_of(alphabet, s.s, s.len, out);
	if (n >= 0)
		return n;
	/* special tokens, and normal ones that are not of the alphabet, are written as they are */
	memcpy(out, s.s, s.len);
	return (int64_t)s.len;
}

static int read_tokens(struct tokenizer_vocab *out, const struct assay_gguf *g, const int16_t alphabet[324],
		       struct assay_reason *why)
{
	const struct assay_gguf_value *tokens, *types, *scores;
	struct assay_vocab *v = &out->v;
	const uint8_t *at;
	int rc = assay_gguf_array(g, "tokenizer.ggml.tokens", ASSAY_GGUF_STRING, &tokens, why);

	if (rc > 0)
		return REFUSE(why, "the file has no tokenizer.ggml.tokens");
	if (rc < 0)
		return rc;
	if (!tokens->n || tokens->n > MOST_TOKENS)
		return REFUSE(why, "tokenizer.ggml.tokens has %" PRIu64 " tokens, expected 1 to %d", tokens->n,
			      MOST_TOKENS);
	v->n_tokens = (int32_t)tokens->n;
	out->bytes = malloc(tokens->bytes + 1);
	out->starts = malloc((tokens->n + 1) * sizeof(*out->starts));
	out->types = malloc(tokens->n);
	out->scores = calloc(tokens->n, sizeof(*out->scores));
	if (!out->bytes || !out->starts || !out->types || !out->scores)
		return REFUSE(why, "not enough memory for %d tokens", v->n_tokens);
	v->bytes = out->bytes;
	v->starts = out->starts;
	v->types = out->types;
	v->scores = out->scores;
	memset(out->types, ASSAY_TOKEN_NORMAL, tokens->n);
	rc = assay_gguf_array(g, "tokenizer.ggml.token_type", ASSAY_GGUF_I32, &types, why);
	if (rc < 0 || (!rc && types->n != tokens->n))
		return rc < 0 ? rc
			      : REFUSE(why, "tokenizer.ggml.token_type has %" PRIu64 " values, expected %d", types->n,
				       v->n_tokens);
	for (int32_t i = 0; !rc && i < v->n_tokens; i++)
		out->types[i] = (uint8_t)assay_gguf_whole(types, (uint64_t)i);
	rc = assay_gguf_array(g, "tokenizer.ggml.scores", ASSAY_GGUF_F32, &scores, why);
	if (rc < 0 || (!rc && scores->n != tokens->n))
		return rc < 0 ? rc
			      : REFUSE(why, "tokenizer.ggml.scores has %" PRIu64 " values, expected %d", scores->n,
				       v->n_tokens);
	if (rc && v->model == ASSAY_VOCAB_SPM)
		return REFUSE(why, "the file has no tokenizer.ggml.scores");
	for (int32_t i = 0; !rc && i < v->n_tokens; i++)
		out->scores[i] = (float)assay_gguf_number(scores, (uint64_t)i);
	at = tokens->at;
	out->starts[0] = 0;
	for (int32_t i = 0; i < v->n_tokens; i++) {
		const struct assay_gguf_string s = assay_gguf_next_string(&at);
		int64_t n;

		if (is_ending(s.s, s.len) || is_gap(s.s, s.len))
			out->types[i] = ASSAY_TOKEN_CONTROL;
		n = token_text(v, alphabet, i, s, out->bytes + out->starts[i]);
		if (n < 0)
			return REFUSE(why, "token %d is a byte, but its name is not <0x00> to <0xFF>", i);
		out->starts[i + 1] = out->starts[i] + n;
	}
	return 0;
}

/* ---- merges ---- */

/* @s is both names with a space between them; a space may begin the first one. */
static int read_merge(const struct assay_tokenizer *t, const int16_t alphabet[324], struct assay_gguf_string s,
		      int32_t out[3], uint8_t *room)
{
	const char *space = s.len > 1 ? memchr(s.s + 1, ' ', s.len - 1) : NULL;
	size_t left = space ? (size_t)(space - s.s) : 0;
	int64_t n[2];

	if (!space)
		return -1;
	n[0] = bytes_of(alphabet, s.s, left, room);
	n[1] = n[0] < 0 ? -1 : bytes_of(alphabet, space + 1, s.len - left - 1, room + n[0]);
	if (n[1] < 0)
		return -1;
	out[0] = assay_tokenizer_find(t, room, n[0]);
	out[1] = assay_tokenizer_find(t, room + n[0], n[1]);
	out[2] = assay_tokenizer_find(t, room, n[0] + n[1]);
	return out[0] < 0 || out[1] < 0 || out[2] < 0 ? -1 : 0;
}

static int read_merges(struct tokenizer_vocab *out, const struct assay_gguf *g, const int16_t alphabet[324],
		       struct assay_reason *why)
{
	const struct assay_gguf_value *merges;
	int32_t(*to)[3];
	struct assay_tokenizer t;
	const uint8_t *at;
	uint8_t *room;
	int rc = assay_gguf_array(g, "tokenizer.ggml.merges", ASSAY_GGUF_STRING, &merges, why);

	if (rc)
		return rc < 0 ? rc : REFUSE(why, "the file has no tokenizer.ggml.merges");
	if (merges->n > MOST_TOKENS)
		return REFUSE(why, "tokenizer.ggml.merges has %" PRIu64 " merges, expected at most %d", merges->n,
			      MOST_TOKENS);
	if (assay_tokenizer_init(&t, &out->v, why))
		return -1;
	to = malloc((merges->n + 1) * sizeof(*to));
	room = malloc(merges->bytes + 1);
	if (!to || !room)
		rc = REFUSE(why, "not enough memory for %" PRIu64 " merges", merges->n);
	at = merges->at;
	for (uint64_t i = 0; i < merges->n && !rc; i++) {
		struct assay_gguf_string s = assay_gguf_next_string(&at);

		if (read_merge(&t, alphabet, s, to[i], room))
			rc = REFUSE(why,
				    "merge %" PRIu64 " of tokenizer.ggml.merges is not of two tokens that make a third",
				    i);
	}
	assay_tokenizer_release(&t);
	free(room);
	out->v.merges = to;
	out->v.n_merges = rc ? 0 : (int32_t)merges->n;
	return rc;
}

/* ---- the file ---- */

static int read_pre(struct assay_vocab *v, const struct assay_gguf *g, struct assay_reason *why)
{
	const struct assay_pre_tokenizer *known;
	struct assay_gguf_string name;
	int rc = assay_gguf_text(g, "tokenizer.ggml.pre", &name, why);

	if (rc > 0)
		return REFUSE(why,
			      "the file does not name its pre-tokenizer (tokenizer.ggml.pre), without which its ids "
			      "would be a guess");
	if (rc < 0)
		return rc;
	known = assay_pre_tokenizer_named(name, &v->pre_name);
	if (!known)
		return REFUSE(
			why,
			"tokenizer.ggml.pre is '%.*s', which is no pre-tokenizer that assay knows, such as gpt-2, "
			"llama-bpe or qwen2",
			(int)(name.len < 64 ? name.len : 64), name.s);
	v->pre = known->pre;
	v->whole_words = known->whole_words;
	v->add_bos = known->add_bos;
	return 0;
}

static int read_id(const struct assay_vocab *v, const struct assay_gguf *g, const char *key, int32_t *out,
		   struct assay_reason *why)
{
	int64_t id = -1;

	if (assay_gguf_int(g, key, &id, why) < 0)
		return -1;
	if (id < -1 || id >= v->n_tokens)
		return REFUSE(why, "%s is %" PRId64 ", but there are %d tokens", key, id, v->n_tokens);
	*out = (int32_t)id;
	return 0;
}

static int read_vocab(struct tokenizer_vocab *out, const struct assay_gguf *g, struct assay_reason *why)
{
	struct assay_vocab *v = &out->v;
	struct assay_gguf_string model;
	int16_t alphabet[324];
	bool space_prefix, add_bos;
	int rc = assay_gguf_text(g, "tokenizer.ggml.model", &model, why);

	if (rc)
		return rc < 0 ? rc : REFUSE(why, "the file has no tokenizer.ggml.model");
	if (!assay_gguf_string_is(model, "gpt2") && !assay_gguf_string_is(model, "llama"))
		return REFUSE(why, "tokenizer.ggml.model is '%.*s', expected gpt2 or llama",
			      (int)(model.len < 64 ? model.len : 64), model.s);
	v->model = assay_gguf_string_is(model, "gpt2") ? ASSAY_VOCAB_BPE : ASSAY_VOCAB_SPM;
	space_prefix = v->model == ASSAY_VOCAB_SPM;
	v->add_bos = space_prefix;
	byte_alphabet(alphabet);
	if ((v->model == ASSAY_VOCAB_BPE && read_pre(v, g, why)) || read_tokens(out, g, alphabet, why))
		return -1;
	add_bos = v->add_bos;
	if (read_id(v, g, "tokenizer.ggml.bos_token_id", &v->bos, why) ||
	    read_id(v, g, "tokenizer.ggml.eos_token_id", &v->eos, why) ||
	    read_id(v, g, "tokenizer.ggml.eot_token_id", &v->eot, why) ||
	    read_id(v, g, "tokenizer.ggml.unknown_token_id", &v->unknown, why) ||
	    assay_gguf_bool(g, "tokenizer.ggml.add_bos_token", &add_bos, why) < 0 ||
	    assay_gguf_bool(g, "tokenizer.ggml.add_space_prefix", &space_prefix, why) < 0)
		return -1;
	v->add_bos = add_bos && v->bos >= 0;
	v->space_prefix = v->model == ASSAY_VOCAB_SPM && space_prefix;
	return v->model == ASSAY_VOCAB_BPE ? read_merges(out, g, alphabet, why) : 0;
}

int assay_vocab_read(struct tokenizer_vocab *out, const struct assay_gguf *g, struct assay_reason *why)
{
	*out = (struct tokenizer_vocab){
		.v = { .size = sizeof(out->v), .bos = -1, .eos = -1, .unknown = -1, .eot = -1 }
	};
	if (!read_vocab(out, g, why))
		return 0;
	assay_vocab_release(out);
	return -1;
}

/* ---- writing ---- */

/* Write @n bytes in the letters of the alphabet, and return how many bytes these are. NULL for @w: only count. */
static uint64_t write_letters(struct assay_gguf_writer *w, const uint16_t letters[256], const uint8_t *s, int64_t n)
{
	uint64_t bytes = 0;

	for (int64_t i = 0; i < n; i++) {
		const uint16_t c = letters[s[i]];
		const uint8_t two[2] = { (uint8_t)(c < 0x80 ? c : 0xc0 | c >> 6), (uint8_t)(0x80 | (c & 0x3f)) };
		const size_t len = c < 0x80 ? 1 : 2;

		if (w)
			assay_gguf_write_data(w, two, len);
		bytes += len;
	}
	return bytes;
}

static void write_token(struct assay_gguf_writer *w, const uint16_t letters[256], const struct assay_vocab *v,
			int32_t id)
{
	const uint8_t *s = v->bytes + v->starts[id];
	const int64_t n = v->starts[id + 1] - v->starts[id];
	uint64_t bytes = (uint64_t)n;
	char name[8];

	if (v->types[id] == ASSAY_TOKEN_BYTE) {
		snprintf(name, sizeof(name), "<0x%02X>", s[0]);
		assay_gguf_write_string(w, name);
	} else if (v->model == ASSAY_VOCAB_BPE && v->types[id] == ASSAY_TOKEN_NORMAL) {
		bytes = write_letters(NULL, letters, s, n);
		assay_gguf_write_data(w, &bytes, sizeof(bytes));
		write_letters(w, letters, s, n);
	} else {
		assay_gguf_write_data(w, &bytes, sizeof(bytes));
		assay_gguf_write_data(w, s, (size_t)n);
	}
}

static void write_merge(struct assay_gguf_writer *w, const uint16_t letters[256], const struct assay_vocab *v,
			const int32_t merge[3])
{
	const uint8_t *s[2] = { v->bytes + v->starts[merge[0]], v->bytes + v->starts[merge[1]] };
	const int64_t n[2] = { v->starts[merge[0] + 1] - v->starts[merge[0]],
			       v->starts[merge[1] + 1] - v->starts[merge[1]] };
	const uint64_t bytes = write_letters(NULL, letters, s[0], n[0]) + 1 + write_letters(NULL, letters, s[1], n[1]);

	assay_gguf_write_data(w, &bytes, sizeof(bytes));
	write_letters(w, letters, s[0], n[0]);
	assay_gguf_write_data(w, " ", 1);
	write_letters(w, letters, s[1], n[1]);
}

static void write_id(struct assay_gguf_writer *w, const char *key, int32_t id)
{
	if (id >= 0)
		assay_gguf_write_u32(w, key, (uint32_t)id);
}

void assay_vocab_write(struct assay_gguf_writer *w, const struct assay_vocab *v)
{
	const uint64_t n = (uint64_t)v->n_tokens;
	uint16_t letters[256];

	letters_of_bytes(letters);
	assay_gguf_write_text(w, "tokenizer.ggml.model", v->model == ASSAY_VOCAB_BPE ? "gpt2" : "llama");
	assay_gguf_write_array(w, "tokenizer.ggml.tokens", ASSAY_GGUF_STRING, n);
	for (int32_t i = 0; i < v->n_tokens; i++)
		write_token(w, letters, v, i);
	assay_gguf_write_array(w, "tokenizer.ggml.token_type", ASSAY_GGUF_I32, n);
	for (int32_t i = 0; i < v->n_tokens; i++)
		assay_gguf_write_data(w, &(int32_t){ v->types[i] }, sizeof(int32_t));
	if (v->model == ASSAY_VOCAB_BPE) {
		assay_gguf_write_text(w, "tokenizer.ggml.pre", v->pre_name);
		assay_gguf_write_array(w, "tokenizer.ggml.merges", ASSAY_GGUF_STRING, (uint64_t)v->n_merges);
		for (int32_t i = 0; i < v->n_merges; i++)
			write_merge(w, letters, v, v->merges[i]);
	} else {
		assay_gguf_write_array(w, "tokenizer.ggml.scores", ASSAY_GGUF_F32, n);
		assay_gguf_write_data(w, v->scores, n * sizeof(*v->scores));
		assay_gguf_write_bool(w, "tokenizer.ggml.add_space_prefix", v->space_prefix);
	}
	write_id(w, "tokenizer.ggml.bos_token_id", v->bos);
	write_id(w, "tokenizer.ggml.eos_token_id", v->eos);
	write_id(w, "tokenizer.ggml.eot_token_id", v->eot);
	write_id(w, "tokenizer.ggml.unknown_token_id", v->unknown);
	assay_gguf_write_bool(w, "tokenizer.ggml.add_bos_token", v->add_bos);
}
