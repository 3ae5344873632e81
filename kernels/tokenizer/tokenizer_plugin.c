/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variants "ours", and their plugin. They have a cache of words: a table in which each word has one slot, a cache
 * line with its bytes and ids. Words that are too long for a slot, or have too many tokens, are merged each time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tokenizer_ours.h"

struct ours {
	struct tokenizer_tables t;
	struct tokenizer_word *words;
	int shift;       /* of a hash, to the index of its slot */
	uint8_t *marked; /* a piece of SPM, with marks for spaces */
	uint64_t slots, hits, misses;
};

/* ---- hashing ---- */

static inline struct tokenizer_key key_of(const uint8_t *s, int64_t n, const uint8_t *end)
{
	static const uint8_t masks[64] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					   0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					   0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct tokenizer_key k, mask;

	if (end - s >= (int64_t)sizeof(k)) {
		memcpy(&k, s, sizeof(k));
		memcpy(&mask, masks + sizeof(k) - n, sizeof(mask));
		for (int i = 0; i < 4; i++)
			k.w[i] &= mask.w[i];
	} else {
		memset(&k, 0, sizeof(k));
		memcpy(&k, s, (size_t)n);
	}
	k.w[3] |= (uint64_t)n << 56; /* on a big-endian machine another byte, but the same for equal words */
	return k;
}

static inline uint64_t hash_of(const struct tokenizer_key *k)
{
	uint64_t h = k->w[0] * 0x9e3779b97f4a7c15u + k->w[1] * 0xc2b2ae3d27d4eb4fu + k->w[2] * 0x165667b19e3779f9u +
		     k->w[3] * 0xd6e8feb86659fd93u;

	return (h ^ h >> 32) * 0xff51afd7ed558ccdu;
}

static inline bool same(const struct tokenizer_key *a, const struct tokenizer_key *b)
{
	return !((a->w[0] ^ b->w[0]) | (a->w[1] ^ b->w[1]) | (a->w[2] ^ b->w[2]) | (a->w[3] ^ b->w[3]));
}

static uint64_t hash_bytes(const uint8_t *s, int64_t n)
{
	uint64_t h = (uint64_t)n, word;

	for (; n >= 8; s += 8, n -= 8) {
		memcpy(&word, s, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	for (; n; s++, n--)
		h = (h ^ *s) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

int32_t *tokenizer_find_token(const struct tokenizer_tables *t, const uint8_t *s, int64_t n)
{
	uint64_t i = hash_bytes(s, n) & t->token_mask;

	for (;; i = (i + 1) & t->token_mask) {
		int32_t id = t->tokens[i];

		if (id < 0 || (t->v->starts[id + 1] - t->v->starts[id] == n &&
			       !memcmp(t->v->bytes + t->v->starts[id], s, (size_t)n)))
			return &t->tokens[i];
	}
}

/* ---- preparing ---- */

static uint64_t table_mask(int64_t n)
{
	uint64_t size = 2;

	while (size < 2 * (uint64_t)n)
		size *= 2;
	return size - 1;
}

struct scored {
	float score;
	int32_t id;
};

static int highest_first(const void *a, const void *b)
{
	const struct scored *x = a, *y = b;

	return (x->score < y->score) - (x->score > y->score);
}

static bool space_inside(const uint8_t *s, int64_t n)
{
	const uint8_t *end = s + n;

	while (s < end && tokenizer_space(s, end))
		s += tokenizer_space(s, end);
	while (s < end && !tokenizer_space(s, end))
		s++;
	return s < end;
}

/* Rank the tokens of SPM, which has scores in place of merges, by their score. */
static int rank_tokens(struct tokenizer_tables *t)
{
	const struct assay_vocab *v = t->v;
	struct scored *all = malloc((size_t)v->n_tokens * sizeof(*all));
	uint32_t rank = 0;

	t->ranks = malloc((size_t)v->n_tokens * sizeof(*t->ranks));
	if (!all || !t->ranks) {
		free(all);
		return -1;
	}
	t->spaces_begin_only = true;
	for (int32_t i = 0; i < v->n_tokens; i++) {
		const int64_t n = v->starts[i + 1] - v->starts[i];

		all[i] = (struct scored){ v->scores[i], i };
		t->longest = n > t->longest ? n : t->longest;
		t->spaces_begin_only = t->spaces_begin_only && !space_inside(v->bytes + v->starts[i], n);
	}
	for (int i = 0; i < 256; i++)
		if (t->byte_ids[i] < 0)
			t->byte_ids[i] = v->unknown;
	qsort(all, (size_t)v->n_tokens, sizeof(*all), highest_first);
	for (int32_t i = 0; i < v->n_tokens; i++) {
		rank += i && all[i].score < all[i - 1].score;
		t->ranks[all[i].id] = rank;
	}
	free(all);
	return 0;
}

static int make_tables(struct tokenizer_tables *t)
{
	const struct assay_vocab *v = t->v;

	t->pair_mask = table_mask(v->n_merges);
	t->token_mask = table_mask(v->n_tokens);
	t->pairs = malloc((t->pair_mask + 1) * sizeof(*t->pairs));
	t->tokens = malloc((t->token_mask + 1) * sizeof(*t->tokens));
	if (!t->pairs || !t->tokens)
		return -1;
	memset(t->pairs, 0xff, (t->pair_mask + 1) * sizeof(*t->pairs));
	memset(t->tokens, 0xff, (t->token_mask + 1) * sizeof(*t->tokens));
	assay_unicode_classes(t->classes);
	t->classes[ASSAY_UNICODE_LIMIT] = ASSAY_CHAR_OTHER;
	for (int i = 0; i < 256; i++)
		t->ascii[i] = i < 128 ? t->classes[i] : TOKENIZER_WIDE;
	memset(t->byte_ids, 0xff, sizeof(t->byte_ids));
	for (int32_t i = 0; i < v->n_tokens; i++) {
		const uint8_t *s = v->bytes + v->starts[i];
		const int64_t n = v->starts[i + 1] - v->starts[i];

		if (n == 1 && (v->model == ASSAY_VOCAB_BPE || v->types[i] == ASSAY_TOKEN_BYTE))
			t->byte_ids[*s] = i;
		if (n && v->types[i] != ASSAY_TOKEN_BYTE)
			*tokenizer_find_token(t, s, n) = i;
	}
	if (v->model == ASSAY_VOCAB_SPM)
		return rank_tokens(t);
	/* of merges of the same tokens the first one counts */
	for (int32_t r = v->n_merges - 1; r >= 0; r--) {
		const uint64_t key = (uint64_t)(uint32_t)v->merges[r][0] << 32 | (uint32_t)v->merges[r][1];
		uint64_t i = key * 0x9e3779b97f4a7c15u;

		for (i = (i ^ i >> 32) & t->pair_mask; t->pairs[i].key != key && t->pairs[i].key != UINT64_MAX;)
			i = (i + 1) & t->pair_mask;
		t->pairs[i] = (struct tokenizer_pair){ key, { (uint32_t)r, v->merges[r][2] } };
	}
	for (int i = 0; i < 256; i++)
		for (int k = 0; k < 256; k++)
			t->of_bytes[i][k] = tokenizer_find_merge(t, t->byte_ids[i], t->byte_ids[k]);
	return 0;
}

static void release(struct assay_job *job)
{
	struct ours *o = job->state;

	tokenizer_list_free(o->t.list);
	free(o->t.pairs);
	free(o->t.tokens);
	free(o->t.ranks);
	free(o->marked);
	free(o->words);
	free(o);
	job->state = NULL;
}

static int64_t encode(struct ours *o, const uint8_t *text, int64_t n, int32_t *ids);

static int prepare(struct assay_job *job)
{
	const struct assay_tokenizer_state *s = job->op_state;
	const int64_t *axis = job->shape->axis;
	struct ours *o = calloc(1, sizeof(*o));

	if (!o)
		return job->host->fail(job, "not enough memory");
	job->state = o;
	o->t.v = s->vocab;
	o->slots = (uint64_t)axis[ASSAY_TOKENIZER_SLOTS];
	o->shift = 64 - __builtin_ctzll(o->slots);
	o->words = aligned_alloc(64, o->slots * sizeof(*o->words));
	if (s->vocab->model == ASSAY_VOCAB_SPM)
		o->marked = malloc(strlen(TOKENIZER_MARK) * ((size_t)axis[ASSAY_TOKENIZER_BYTES] + 1));
	if (!o->words || make_tables(&o->t) || (o->t.ranks && !o->marked))
		goto memory;
	memset(o->words, 0, o->slots * sizeof(*o->words));
	if (axis[ASSAY_TOKENIZER_CACHE] == ASSAY_TOKENIZER_WARM &&
	    encode(o, job->tensors[ASSAY_TOKENIZER_TEXT].data, axis[ASSAY_TOKENIZER_BYTES],
		   job->tensors[ASSAY_TOKENIZER_IDS].data) < 0)
		goto memory;
	return 0;
memory:
	release(job);
	return job->host->fail(job, "not enough memory");
}

/* ---- encoding ---- */

static int64_t mark_spaces(uint8_t *out, const uint8_t *s, int64_t n, bool prefix)
{
	const int64_t mark = (int64_t)strlen(TOKENIZER_MARK);
	int64_t len = 0;

	for (int64_t i = prefix ? -1 : 0; i < n; i++)
		if (i < 0 || s[i] == ' ') {
			memcpy(out + len, TOKENIZER_MARK, (size_t)mark);
			len += mark;
		} else {
			out[len++] = s[i];
		}
	return len;
}

/* The ids of a piece that the cache does not have; @prefix: of SPM, with a space before it. */
static int64_t encode_piece(struct ours *o, const uint8_t *s, int64_t n, bool prefix, int32_t *ids)
{
	if (o->marked)
		return tokenizer_merge_piece(&o->t, o->marked, mark_spaces(o->marked, s, n, prefix), ids);
	if (o->t.v->whole_words) {
		int32_t id = *tokenizer_find_token(&o->t, s, n);

		o->t.lookups++;
		if (id >= 0) {
			*ids = id;
			return 1;
		}
	}
	return tokenizer_merge_piece(&o->t, s, n, ids);
}

static int64_t encode(struct ours *o, const uint8_t *text, int64_t n, int32_t *ids)
{
	const uint8_t *end = text + n, *p = text;
	int32_t *out = ids;

	o->t.lookups = o->t.merges = o->hits = o->misses = 0;
	while (p < end) {
		const uint8_t *stop = tokenizer_piece_end(&o->t, p, end);
		const int64_t len = stop - p;
		const bool prefix = p == text && o->t.v->space_prefix;
		struct tokenizer_word *w = NULL;
		struct tokenizer_key key;
		int64_t more;

		if (len <= TOKENIZER_KEY_BYTES && !prefix) {
			key = key_of(p, len, end);
			w = &o->words[hash_of(&key) >> o->shift];
			if (same(&w->key, &key)) {
				o->hits++;
				/* there is room for an id of each byte that is left, at least */
				if (end - p >= TOKENIZER_WORD_IDS)
					memcpy(out, w->ids, sizeof(w->ids));
				else
					memcpy(out, w->ids, (size_t)w->n * sizeof(w->ids[0]));
				out += w->n;
				p = stop;
				continue;
			}
		}
		o->misses++;
		more = encode_piece(o, p, len, prefix, out);
		if (more < 0)
			return -1;
		if (w && more <= TOKENIZER_WORD_IDS) {
			w->key = key;
			w->n = (int32_t)more;
			memcpy(w->ids, out, (size_t)more * sizeof(w->ids[0]));
		}
		out += more;
		p = stop;
	}
	return out - ids;
}

static int run_encode(struct assay_job *job)
{
	const uint64_t begin_ns = job->host->now_ns();
	const int64_t *axis = job->shape->axis;
	struct ours *o = job->state;
	int64_t *count = job->tensors[ASSAY_TOKENIZER_COUNT].data;

	if (axis[ASSAY_TOKENIZER_CACHE] == ASSAY_TOKENIZER_COLD)
		memset(o->words, 0, o->slots * sizeof(*o->words));
	*count = encode(o, job->tensors[ASSAY_TOKENIZER_TEXT].data, axis[ASSAY_TOKENIZER_BYTES],
			job->tensors[ASSAY_TOKENIZER_IDS].data);
	if (*count < 0)
		return job->host->fail(job, "not enough memory");
	assay_counter(job, ASSAY_TOKENIZER_LOOKUPS, o->t.lookups);
	assay_counter(job, ASSAY_TOKENIZER_MERGES, o->t.merges);
	assay_counter(job, ASSAY_TOKENIZER_HITS, o->hits);
	assay_counter(job, ASSAY_TOKENIZER_MISSES, o->misses);
	assay_tokenizer_ran(job, begin_ns);
	return 0;
}

/* ---- decoding ---- */

#define SHORT_TOKEN 15

/* The bytes of a token, where they fit. */
struct short_token {
	uint8_t s[SHORT_TOKEN], n; /* n > SHORT_TOKEN: they do not */
};

struct decoder {
	struct short_token *tokens;
	uint8_t *bytes; /* of all tokens: those of the vocabulary or, in SPM, with spaces for marks */
	int64_t *starts;
};

/* Put the text of a token into @out, and return its length in bytes. */
static int64_t text_of(const struct assay_vocab *v, int32_t id, uint8_t *out)
{
	const uint8_t *s = v->bytes + v->starts[id], *end = v->bytes + v->starts[id + 1];
	const bool marks = v->model == ASSAY_VOCAB_SPM && v->types[id] == ASSAY_TOKEN_NORMAL;
	int64_t n = 0;

	if (v->types[id] == ASSAY_TOKEN_CONTROL || v->types[id] == ASSAY_TOKEN_UNKNOWN)
		return 0;
	while (s < end) {
		const int64_t space = marks ? tokenizer_space(s, end) : 0;

		out[n++] = space ? ' ' : *s;
		s += space ? space : 1;
	}
	return n;
}

static void release_decode(struct assay_job *job)
{
	struct decoder *d = job->state;

	free(d->tokens);
	free(d->bytes);
	free(d->starts);
	free(d);
	job->state = NULL;
}

static int prepare_decode(struct assay_job *job)
{
	const struct assay_vocab *v = ((const struct assay_tokenizer_state *)job->op_state)->vocab;
	struct decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return job->host->fail(job, "not enough memory");
	job->state = d;
	d->tokens = calloc((size_t)v->n_tokens, sizeof(*d->tokens));
	d->bytes = malloc((size_t)v->starts[v->n_tokens] + 1);
	d->starts = malloc(((size_t)v->n_tokens + 1) * sizeof(*d->starts));
	if (!d->tokens || !d->bytes || !d->starts) {
		release_decode(job);
		return job->host->fail(job, "not enough memory");
	}
	d->starts[0] = 0;
	for (int32_t i = 0; i < v->n_tokens; i++) {
		uint8_t *s = d->bytes + d->starts[i];
		const int64_t n = text_of(v, i, s);

		d->starts[i + 1] = d->starts[i] + n;
		d->tokens[i].n = (uint8_t)(n <= SHORT_TOKEN ? n : SHORT_TOKEN + 1);
		if (n <= SHORT_TOKEN)
			memcpy(d->tokens[i].s, s, (size_t)n);
	}
	return 0;
}

/* The space that SPM put before the text is not part of it: 1 where the first token has it. */
static int64_t prefix_of(const struct assay_vocab *v, int32_t id)
{
	const int64_t mark = (int64_t)strlen(TOKENIZER_MARK);

	return v->space_prefix && v->types[id] == ASSAY_TOKEN_NORMAL && v->starts[id + 1] - v->starts[id] >= mark &&
	       !memcmp(v->bytes + v->starts[id], TOKENIZER_MARK, (size_t)mark);
}

static int run_decode(struct assay_job *job)
{
	const uint64_t begin_ns = job->host->now_ns();
	const struct assay_vocab *v = ((const struct assay_tokenizer_state *)job->op_state)->vocab;
	const struct decoder *d = job->state;
	const int32_t *ids = job->tensors[ASSAY_TOKENIZER_IDS].data;
	const int64_t n = *(const int64_t *)job->tensors[ASSAY_TOKENIZER_COUNT].data;
	uint8_t *out = job->tensors[ASSAY_TOKENIZER_TEXT].data, *end = out + job->tensors[ASSAY_TOKENIZER_TEXT].bytes;

	for (int64_t i = 0; i < n; i++) {
		const struct short_token *x;
		int64_t len, skip = 0;

		if (ids[i] < 0 || ids[i] >= v->n_tokens)
			return job->host->fail(job, "token %d is not in the vocabulary", ids[i]);
		x = &d->tokens[ids[i]];
		if (i && x->n <= SHORT_TOKEN && end - out >= SHORT_TOKEN) {
			memcpy(out, x->s, SHORT_TOKEN);
			out += x->n;
			continue;
		}
		if (!i)
			skip = prefix_of(v, ids[i]);
		len = d->starts[ids[i] + 1] - d->starts[ids[i]] - skip;
		if (len > end - out)
			return job->host->fail(job, "the tokens have more bytes than their text");
		memcpy(out, d->bytes + d->starts[ids[i]] + skip, (size_t)len);
		out += len;
	}
	if (out != end)
		return job->host->fail(job, "the tokens have fewer bytes than their text");
	assay_tokenizer_ran(job, begin_ns);
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "tokenizer.encode",
	  .name = "ours",
	  .help = "word cache, and a queue for each merge rank",
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .prepare = prepare,
	  .run = run_encode,
	  .release = release },
	{ .op = "tokenizer.decode",
	  .name = "ours",
	  .help = "short tokens copied with one store",
	  .flags = ASSAY_VARIANT_ONE_THREAD,
	  .prepare = prepare_decode,
	  .run = run_decode,
	  .release = release_decode },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "tokenizer",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
