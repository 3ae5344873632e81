/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pre-tokenizer is a list of patterns. The first one cuts the text into its matches and what lies between them; each
 * further one cuts every piece that the one before it left, and sees nothing outside of that piece.
 *
 * The patterns are those that the makers of vocabularies publish in tokenizer.json, as far as llama.cpp follows them:
 * outside of ASCII it does not tell upper from lower case, so neither do `tekken` and `gpt-4o`.
 */
#include "gguf/patterns.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/op_tokenizer.h"
#include "assay/unicode_classes.h"

/* Unicode's White_Space, inside of brackets; PCRE2's own \s has one character more (U+180E). */
#define WS    "\\x{9}-\\x{d} \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
#define SPACE "[" WS "]"
#define ENDS  "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
/* A run of spaces leaves the last one to a word that follows. */
#define SPACES "|" SPACE "+(?![^" WS "])|" SPACE "+"
/* Where the piece before ended within a run of spaces, the rest of that run was already searched for a new line. */
#define AFTER_NO_SPACE "(?<!(?![\\r\\n])" SPACE ")"
#define LINES          "|" SPACE "*[\\r\\n]+" SPACES
#define OTHERS         "| ?[^" WS "\\p{L}\\p{N}]+"
#define BEFORE         "[^\\r\\n\\p{L}\\p{N}]?"

#define GPT_2        "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+" OTHERS SPACES
#define QWEN2        ENDS "|" BEFORE "\\p{L}+|\\p{N}" OTHERS "[\\r\\n]*" LINES
#define ASCII_MARKS  "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~]"
#define DEEPSEEK_CJK "[\\x{4e00}-\\x{9fa5}\\x{3040}-\\x{30ff}]+"
#define DEEPSEEK_V3  ASCII_MARKS "[A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+"
/* As in llama.cpp, without the spaces that are among these characters. */
#define EAST_ASIA                                                                                                      \
	"[\\x{800}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-"    \
	"\\x{2fff}\\x{3001}-\\x{9fa5}\\x{ac00}-\\x{d7ff}]+"
#define BLOOM_WORD " ?[^(" WS "|.,!?\\x{2026}\\x{3002}\\x{ff0c}\\x{3001}\\x{964}\\x{6d4}\\x{60c})]+"
/* A word ends before a capital that follows a small letter. */
#define SMALL          "[^\\P{L}A-Z]"
#define CAPITAL        "[^\\P{L}a-z]"
#define CAMEL(endings) BEFORE CAPITAL "*" SMALL "+" endings "|" BEFORE CAPITAL "+" SMALL "*" endings
/* Letters of alphabets that have case. */
#define CASED                                                                                                          \
	"A-Za-z\\x{b5}\\x{c0}-\\x{d6}\\x{d8}-\\x{f6}\\x{f8}-\\x{1ba}\\x{1bc}-\\x{1bf}\\x{1c4}-\\x{293}\\x{295}-"       \
	"\\x{2af}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37b}-\\x{37d}\\x{37f}\\x{386}\\x{388}-\\x{38a}\\x{38c}\\x{38e}"  \
	"-\\x{3a1}\\x{3a3}-\\x{3f5}\\x{3f7}-\\x{481}\\x{48a}-\\x{52f}\\x{531}-\\x{556}\\x{10a0}-\\x{10c5}\\x{13a0}-"   \
	"\\x{13f5}\\x{13f8}-\\x{13fd}\\x{1c90}-\\x{1cba}\\x{1cbd}-\\x{1cbf}\\x{1d00}-\\x{1d2b}\\x{1d6b}-\\x{1d77}"     \
	"\\x{1d79}-\\x{1d9a}\\x{1e00}-\\x{1f15}\\x{1f18}-\\x{1f1d}\\x{1f20}-\\x{1f45}\\x{1f48}-\\x{1f4d}\\x{1f50}-"    \
	"\\x{1f57}\\x{1f59}\\x{1f5b}\\x{1f5d}\\x{1f5f}-\\x{1f7d}\\x{1f80}-\\x{1fb4}\\x{1fb6}-\\x{1fbc}\\x{1fbe}"       \
	"\\x{1fc2}-\\x{1fc4}\\x{1fc6}-\\x{1fcc}\\x{1fd0}-\\x{1fd3}\\x{1fd6}-\\x{1fdb}\\x{1fe0}-\\x{1fec}\\x{1ff2}-"    \
	"\\x{1ff4}\\x{1ff6}-\\x{1ffc}\\x{2102}\\x{2107}\\x{210a}-\\x{2113}\\x{2115}\\x{2119}-\\x{211d}\\x{2124}"       \
	"\\x{2126}\\x{2128}\\x{212a}-\\x{212d}\\x{212f}-\\x{2134}\\x{2139}\\x{213c}-\\x{213f}\\x{2145}-\\x{2149}"      \
	"\\x{214e}\\x{2183}\\x{2184}\\x{2c00}-\\x{2c7b}\\x{2c7e}-\\x{2ce4}\\x{2ceb}-\\x{2cee}\\x{2cf2}\\x{2cf3}"       \
	"\\x{a640}-\\x{a66d}\\x{a680}-\\x{a69b}\\x{a722}-\\x{a76f}\\x{a771}-\\x{a787}\\x{a78b}-\\x{a78e}\\x{ab70}-"    \
	"\\x{abbf}\\x{fb00}-\\x{fb06}\\x{fb13}-\\x{fb17}\\x{ff21}-\\x{ff3a}\\x{ff41}-\\x{ff5a}\\x{10400}-\\x{1044f}"   \
	"\\x{104b0}-\\x{104d3}\\x{104d8}-\\x{104fb}\\x{10c80}-\\x{10cb2}\\x{10cc0}-\\x{10cf2}\\x{118a0}-\\x{118df}"    \
	"\\x{1e900}-\\x{1e943}"

enum { MOST_PATTERNS = 6 };

/* Rows; those of enum assay_vocab_pre, which have splitters of their own, come first. */
enum {
	FALCON = ASSAY_N_PRES,
	STARCODER,
	DEFAULT,
	DEEPSEEK_LLM,
	DEEPSEEK_CODER,
	DEEPSEEK,
	SPARK,
	BLOOM,
	VIKING,
	TEKKEN,
	GPT_4O,
	QWEN35,
	JAIS_2,
	CHAMELEON,
	BAILING,
	SEED_CODER,
	UFAKZEKA,
	LAGUNA,
	EXAONE_MOE,
	MINICPM5,
	N_ROWS
};

static const char *const rows[N_ROWS][MOST_PATTERNS] = {
	[ASSAY_PRE_GPT_2] = { GPT_2 },
	[ASSAY_PRE_LLAMA_BPE] = { ENDS "|" BEFORE "\\p{L}+|\\p{N}{1,3}" OTHERS "[\\r\\n]*" LINES },
	[ASSAY_PRE_QWEN2] = { QWEN2 },
	[FALCON] = { "[\\p{P}$+<=>^~|`]+", GPT_2, "[0-9]{3}" },
	[STARCODER] = { "\\p{N}", GPT_2 },
	[DEFAULT] = { "[\\p{P}$+<=>^~|]+", GPT_2, "\\p{N}+", "[0-9]{3}" },
	[DEEPSEEK_LLM] = { "[\\r\\n]", SPACE "?[" CASED "]+",
			   SPACE
			   "?[!-/:-~\\x{ff01}-\\x{ff0f}\\x{ff1a}-\\x{ff5e}\\x{2018}-\\x{201f}\\x{3001}\\x{3002}]+",
			   SPACE "+\\z", EAST_ASIA, "\\p{N}+" },
	[DEEPSEEK_CODER] = { "[\\r\\n]", SPACE "?\\p{L}+", SPACE "?\\p{P}+", EAST_ASIA, "\\p{N}" },
	[DEEPSEEK] = { "\\p{N}{1,3}", DEEPSEEK_CJK, DEEPSEEK_V3 "[\\r\\n]*" LINES },
	[SPARK] = { "\\p{N}{1,3}", DEEPSEEK_CJK, DEEPSEEK_V3 "|[\\r\\n]" SPACES, "\\p{N}" },
	[BLOOM] = { BLOOM_WORD },
	[VIKING] = { BLOOM_WORD, "\\p{N}" },
	[TEKKEN] = { CAMEL("") "|\\p{N}" OTHERS "[\\r\\n/]*" LINES },
	[GPT_4O] = { CAMEL(ENDS "?") "|\\p{N}{1,3}" OTHERS "[\\r\\n/]*" LINES },
	[QWEN35] = { ENDS "|" BEFORE "[\\p{L}\\p{M}]+|\\p{N}| ?[^" WS "\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" LINES },
	[JAIS_2] = { ENDS "|" BEFORE "\\p{L}+|\\p{N}{1,3}" OTHERS "[\\r\\n]*|" AFTER_NO_SPACE SPACE "*[\\r\\n]+|"
			  "(?:" SPACE "{512}|" SPACE "{256}|" SPACE "{128}|" SPACE "{64}|" SPACE "{32}|" SPACE
			  "{16}|" SPACE "{8}|" SPACE "{4}|" SPACE "{1,2})(?![^" WS "])|" SPACE },
	[CHAMELEON] = { "<sentinel:[0-9]+>", "IMGIMG[A-I]{1,4}Z", "[\\t\\n]|    |  ", "\\p{N}",
			"[\\p{P}!-/:-@\\[-`{-~]", GPT_2 },
	[BAILING] = { ENDS "|" BEFORE "\\p{L}+|\\p{N}" OTHERS "[\\r\\n]*|" SPACE "*[\\r\\n]" SPACES },
	[SEED_CODER] = { ENDS "|" BEFORE "\\p{L}+|\\p{N}" OTHERS LINES },
	[UFAKZEKA] = { BEFORE "\\p{L}+|\\p{N}" OTHERS "[\\r\\n]*" LINES },
	[LAGUNA] = { "[^\\n]+|\\n+", QWEN2 },
	[EXAONE_MOE] = { ENDS "|" BEFORE "\\p{L}(?:[\\p{L}\\p{M}]| \\p{L})*+|\\p{N}" OTHERS "[\\r\\n/]?|" SPACE
			      "*[\\r\\n]" SPACES },
	[MINICPM5] = { "\\p{N}{1,3}", ENDS "|" BEFORE "\\p{L}+|\\p{N}+" OTHERS "[\\r\\n]*" LINES },
};

/* Names of one row share their patterns. */
static const struct {
	struct assay_pre_tokenizer is;
	const char *names[12];
} pre_tokenizers[] = {
	{ { ASSAY_PRE_GPT_2, false, false },
	  { "gpt-2", "a.x-4.0", "exaone4", "gigachat", "granite-docling", "jais", "mellum", "mpt", "olmo", "phi-2",
	    "trillion" } },
	{ { ASSAY_PRE_LLAMA_BPE, true, true },
	  { "llama-bpe", "falcon-h1", "falcon3", "lfm2", "llama-v3", "llama3", "midm-2.0", "pixtral" } },
	{ { ASSAY_PRE_LLAMA_BPE, false, false }, { "chatglm-bpe", "dbrx", "glm4", "smaug-bpe" } },
	{ { ASSAY_PRE_QWEN2, false, false },
	  { "qwen2", "deepseek-r1-qwen", "grok-2", "hunyuan", "kormo", "megrez", "solar-open", "stablelm2" } },
	{ { FALCON, false, false }, { "falcon" } },
	{ { STARCODER, false, false },
	  { "starcoder", "codeshell", "command-r", "exaone", "mellum2", "minerva-7b", "refact", "smollm" } },
	{ { DEFAULT, false, false }, { "default" } },
	{ { DEEPSEEK_LLM, false, false }, { "deepseek-llm" } },
	{ { DEEPSEEK_CODER, false, false }, { "deepseek-coder" } },
	{ { DEEPSEEK, false, false }, { "deepseek-v3", "hunyuan-dense", "hy_v4", "joyai-llm" } },
	{ { SPARK, false, false }, { "spark2_5" } },
	{ { BLOOM, false, false }, { "bloom", "gpt3-finnish", "poro-chat" } },
	{ { VIKING, false, false }, { "viking" } },
	{ { TEKKEN, true, true }, { "tekken" } },
	{ { GPT_4O, false, false }, { "gpt-4o", "kanana2", "llama4", "minimax-m2", "talkie" } },
	{ { QWEN35, false, false }, { "qwen35" } },
	{ { JAIS_2, false, false }, { "jais-2" } },
	{ { CHAMELEON, false, true }, { "chameleon" } },
	{ { BAILING, false, false }, { "bailingmoe", "bailingmoe2", "llada-moe" } },
	{ { SEED_CODER, false, false }, { "seed-coder" } },
	{ { UFAKZEKA, false, false }, { "ufakzeka" } },
	{ { LAGUNA, false, false }, { "laguna" } },
	{ { EXAONE_MOE, false, false }, { "exaone-moe" } },
	{ { MINICPM5, true, false }, { "minicpm5" } },
};

const struct assay_pre_tokenizer *assay_pre_tokenizer_named(struct assay_gguf_string name, const char **known)
{
	for (size_t i = 0; i < sizeof(pre_tokenizers) / sizeof(pre_tokenizers[0]); i++)
		for (const char *const *at = pre_tokenizers[i].names; *at; at++)
			if (assay_gguf_string_is(name, *at)) {
				*known = *at;
				return &pre_tokenizers[i].is;
			}
	return NULL;
}

/* ---- PCRE2, by the names that its header gives to these numbers ---- */

#define PCRE2_NO_UTF_CHECK  0x40000000u
#define PCRE2_UTF_UCP       (0x00080000u | 0x00020000u)
#define PCRE2_JIT_COMPLETE  1u
#define PCRE2_ERROR_NOMATCH (-1)

struct pcre2 {
	void *(*compile)(const char *pattern, size_t n, uint32_t options, int *error, size_t *at, void *context);
	int (*jit_compile)(void *code, uint32_t options);
	void *(*match_data)(const void *code, void *context);
	int (*match)(const void *code, const uint8_t *s, size_t n, size_t from, uint32_t options, void *data,
		     void *context);
	size_t *(*ovector)(void *data);
	void (*free_code)(void *code);
	void (*free_data)(void *data);
};

struct assay_patterns {
	struct pcre2 lib;
	void *dl;
	int n;
	void *codes[MOST_PATTERNS], *data[MOST_PATTERNS];
};

static int load(struct assay_patterns *p, struct assay_reason *why)
{
	static const char *const symbols[] = {
		"pcre2_compile_8",         "pcre2_jit_compile_8",         "pcre2_match_data_create_from_pattern_8",
		"pcre2_match_8",           "pcre2_get_ovector_pointer_8", "pcre2_code_free_8",
		"pcre2_match_data_free_8",
	};

	p->dl = dlopen("libpcre2-8.so.0", RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; p->dl && i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(p->dl, symbols[i]);

		if (!symbol) {
			snprintf(why->text, sizeof(why->text), "libpcre2-8.so.0 has no %s", symbols[i]);
			return -1;
		}
		memcpy((char *)&p->lib + i * sizeof(symbol), &symbol, sizeof(symbol));
	}
	if (p->dl)
		return 0;
	snprintf(why->text, sizeof(why->text),
		 "libpcre2-8.so.0, which this pre-tokenizer needs, is missing; install libpcre2-8-0");
	return -1;
}

static int compile(struct assay_patterns *p, uint32_t pre, struct assay_reason *why)
{
	for (; p->n < MOST_PATTERNS && rows[pre][p->n]; p->n++) {
		const char *pattern = rows[pre][p->n];
		size_t at = 0;
		int error = 0;
		void *code = p->lib.compile(pattern, strlen(pattern), PCRE2_UTF_UCP, &error, &at, NULL);

		p->codes[p->n] = code;
		p->data[p->n] = code ? p->lib.match_data(code, NULL) : NULL;
		if (!p->data[p->n]) {
			snprintf(why->text, sizeof(why->text), "PCRE2 cannot compile a pattern: error %d at byte %zu",
				 error, at);
			return -1;
		}
		p->lib.jit_compile(code, PCRE2_JIT_COMPLETE); /* without it, matching is slower */
	}
	return 0;
}

struct assay_patterns *assay_patterns_new(uint32_t pre, struct assay_reason *why)
{
	struct assay_patterns *p = calloc(1, sizeof(*p));

	if (!p) {
		snprintf(why->text, sizeof(why->text), "not enough memory");
		return NULL;
	}
	if (!load(p, why) && !compile(p, pre, why))
		return p;
	assay_patterns_free(p);
	return NULL;
}

void assay_patterns_free(struct assay_patterns *p)
{
	if (!p)
		return;
	for (int i = 0; i < MOST_PATTERNS; i++) {
		if (p->data[i])
			p->lib.free_data(p->data[i]);
		if (p->codes[i])
			p->lib.free_code(p->codes[i]);
	}
	if (p->dl)
		dlclose(p->dl);
	free(p);
}

/* ---- splitting ---- */

struct split {
	const struct assay_patterns *p;
	assay_piece_fn piece;
	void *arg;
};

static int split_from(const struct split *x, int stage, const uint8_t *s, int64_t n)
{
	const struct assay_patterns *p = x->p;
	const size_t end = (size_t)n;
	size_t from = 0;
	int rc = 0;

	if (!n)
		return 0;
	if (stage == p->n)
		return x->piece(x->arg, s, n);
	while (from < end && !rc) {
		const int found = p->lib.match(p->codes[stage], s, end, from, PCRE2_NO_UTF_CHECK, p->data[stage], NULL);
		const size_t *place = p->lib.ovector(p->data[stage]);
		const size_t begin = found < 0 ? end : place[0], stop = found < 0 ? end : place[1];

		if (found < 0 && found != PCRE2_ERROR_NOMATCH)
			return -1;
		rc = split_from(x, stage + 1, s + from, (int64_t)(begin - from));
		if (!rc)
			rc = split_from(x, stage + 1, s + begin, (int64_t)(stop - begin));
		from = stop;
	}
	return rc;
}

/* The end of the bytes from @at on that are UTF-8, or that are not. */
static int64_t run_of_utf8(const uint8_t *s, int64_t at, int64_t n, bool wanted)
{
	int64_t len;

	for (; at < n && (assay_utf8(s + at, n - at, &len) < ASSAY_UNICODE_LIMIT) == wanted; at += len)
		;
	return at;
}

int assay_patterns_split(struct assay_patterns *p, const uint8_t *s, int64_t n, assay_piece_fn piece, void *arg)
{
	const struct split x = { p, piece, arg };
	int rc = 0;

	for (int64_t at = 0, end; at < n && !rc; at = end) {
		end = run_of_utf8(s, at, n, true);
		rc = split_from(&x, 0, s + at, end - at);
		at = end;
		end = run_of_utf8(s, at, n, false);
		if (!rc && end > at)
			rc = piece(arg, s + at, end - at);
	}
	return rc;
}
