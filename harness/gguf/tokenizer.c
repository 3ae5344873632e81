/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols in a list, and a heap of neighbours that can be merged. An entry of the heap is stale when its two symbols do
 * not cover the same bytes any more: borders only go away, so equal bytes mean the same two symbols.
 */
#include "gguf/tokenizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/unicode_classes.h"
#include "gguf/patterns.h"

#define SPACE_MARK "\xe2\x96\x81" /* U+2581, SPM's space */

/* A symbol stands at the index of its first byte. */
struct symbol {
	int32_t id; /* -1: no token */
	int32_t len;
	int32_t before; /* bytes of the one before; 0: it is the first */
};

/* The first of the heap has the least key: rank or falling score, then place. */
struct entry {
	uint64_t key;
	int32_t len, id; /* of both together */
};

/* Memory of a call. */
struct tokenizer_work {
	struct symbol *symbols;
	struct entry *heap;
	int64_t room, n_heap;
};

/* ---- hashing ---- */

static uint64_t hash_bytes(const uint8_t *s, int64_t n)
{
	uint64_t h = 14695981039346656037u;

	for (int64_t i = 0; i < n; i++)
		h = (h ^ s[i]) * 1099511628211u;
	return h ^ h >> 32;
}

static uint64_t hash_pair(int32_t left, int32_t right)
{
	uint64_t h = ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) * 0x9e3779b97f4a7c15u;

	return h ^ h >> 32;
}

static int64_t token_bytes(const struct assay_vocab *v, int32_t id)
{
	return v->starts[id + 1] - v->starts[id];
}

/* The cell of the token with these bytes, or the free one where it belongs. */
static int32_t *cell_of_bytes(const struct assay_tokenizer *t, const uint8_t *s, int64_t n)
{
	uint64_t i = hash_bytes(s, n) & t->byte_mask;

	for (;; i = (i + 1) & t->byte_mask) {
		int32_t id = t->by_bytes[i];

		if (id < 0 || (token_bytes(t->v, id) == n && !memcmp(t->v->bytes + t->v->starts[id], s, (size_t)n)))
			return &t->by_bytes[i];
	}
}

static int32_t *cell_of_pair(const struct assay_tokenizer *t, int32_t left, int32_t right)
{
	uint64_t i = hash_pair(left, right) & t->pair_mask;

	for (;; i = (i + 1) & t->pair_mask) {
		int32_t rank = t->by_pair[i];

		if (rank < 0 || (t->v->merges[rank][0] == left && t->v->merges[rank][1] == right))
			return &t->by_pair[i];
	}
}

static int32_t *new_table(int64_t n, uint64_t *mask)
{
	uint64_t size = 2;
	int32_t *cells;

	while (size < 2 * (uint64_t)n)
		size *= 2;
	*mask = size - 1;
	cells = malloc(size * sizeof(*cells));
	if (cells)
		memset(cells, 0xff, size * sizeof(*cells));
	return cells;
}

/* ---- preparing ---- */

static bool is_special(uint8_t type)
{
	return type == ASSAY_TOKEN_CONTROL || type == ASSAY_TOKEN_USER || type == ASSAY_TOKEN_UNKNOWN;
}

struct by_length {
	int64_t len;
	int32_t id;
};

static int longest_first(const void *a, const void *b)
{
	const struct by_length *x = a, *y = b;

	return x->len != y->len ? (x->len < y->len) - (x->len > y->len) : x->id - y->id;
}

static int list_special(struct assay_tokenizer *t)
{
	const struct assay_vocab *v = t->v;
	struct by_length *found = malloc(((size_t)v->n_tokens + 1) * sizeof(*found));

	t->special = malloc(((size_t)v->n_tokens + 1) * sizeof(*t->special));
	if (!found || !t->special) {
		free(found);
		return -1;
	}
	for (int32_t i = 0; i < v->n_tokens; i++)
		if (is_special(v->types[i]) && token_bytes(v, i)) {
			found[t->n_special++] = (struct by_length){ token_bytes(v, i), i };
			t->special_starts[v->bytes[v->starts[i]]] = true;
		}
	qsort(found, (size_t)t->n_special, sizeof(*found), longest_first);
	for (int32_t i = 0; i < t->n_special; i++)
		t->special[i] = found[i].id;
	free(found);
	return 0;
}

/* Of tokens with the same bytes the last one counts, and of merges of the same tokens the first one. */
static void fill_tables(struct assay_tokenizer *t)
{
	const struct assay_vocab *v = t->v;

	memset(t->byte_ids, 0xff, sizeof(t->byte_ids));
	for (int32_t i = 0; i < v->n_tokens; i++) {
		const uint8_t *s = v->bytes + v->starts[i];

		if (v->types[i] == ASSAY_TOKEN_BYTE || v->model == ASSAY_VOCAB_BPE)
			if (token_bytes(v, i) == 1)
				t->byte_ids[*s] = i;
		if (v->types[i] != ASSAY_TOKEN_BYTE && token_bytes(v, i))
			*cell_of_bytes(t, s, token_bytes(v, i)) = i;
	}
	for (int32_t rank = v->n_merges - 1; rank >= 0; rank--)
		*cell_of_pair(t, v->merges[rank][0], v->merges[rank][1]) = rank;
}

int assay_tokenizer_init(struct assay_tokenizer *t, const struct assay_vocab *v, struct assay_reason *why)
{
	*t = (struct assay_tokenizer){ .v = v };
	t->classes = malloc(ASSAY_UNICODE_LIMIT);
	t->work = calloc(1, sizeof(*t->work));
	t->by_bytes = new_table(v->n_tokens, &t->byte_mask);
	t->by_pair = new_table(v->n_merges, &t->pair_mask);
	if (!t->classes || !t->work || !t->by_bytes || !t->by_pair || list_special(t)) {
		snprintf(why->text, sizeof(why->text), "not enough memory for a vocabulary of %d tokens", v->n_tokens);
		assay_tokenizer_release(t);
		return -1;
	}
	if (v->model == ASSAY_VOCAB_BPE && v->pre >= ASSAY_N_PRES) {
		t->patterns = assay_patterns_new(v->pre, why);
		if (!t->patterns) {
			assay_tokenizer_release(t);
			return -1;
		}
	}
	assay_unicode_classes(t->classes);
	fill_tables(t);
	for (int i = 0; i < 256; i++)
		if (t->byte_ids[i] < 0 && v->model == ASSAY_VOCAB_SPM && v->unknown < 0) {
			snprintf(why->text, sizeof(why->text), "the vocabulary has no token for byte 0x%02x", i);
			assay_tokenizer_release(t);
			return -1;
		}
	return 0;
}

void assay_tokenizer_release(struct assay_tokenizer *t)
{
	if (t->work) {
		free(t->work->symbols);
		free(t->work->heap);
	}
	free(t->work);
	free(t->classes);
	free(t->by_bytes);
	free(t->by_pair);
	free(t->special);
	assay_patterns_free(t->patterns);
	*t = (struct assay_tokenizer){ 0 };
}

int32_t assay_tokenizer_find(const struct assay_tokenizer *t, const void *s, int64_t n)
{
	return *cell_of_bytes(t, s, n);
}

/* ---- the heap ---- */

static void push(struct tokenizer_work *w, struct entry e)
{
	int64_t i = w->n_heap++;

	for (; i && e.key < w->heap[(i - 1) / 2].key; i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = e;
}

static struct entry pop(struct tokenizer_work *w)
{
	struct entry first = w->heap[0], e = w->heap[--w->n_heap];
	int64_t i = 0, child;

	while ((child = 2 * i + 1) < w->n_heap) {
		child += child + 1 < w->n_heap && w->heap[child + 1].key < w->heap[child].key;
		if (e.key <= w->heap[child].key)
			break;
		w->heap[i] = w->heap[child];
		i = child;
	}
	w->heap[i] = e;
	return first;
}

/* ---- merging ---- */

/* Room for the symbols of @n bytes, and for an entry of each two neighbours that there can ever be. */
static int make_room(struct tokenizer_work *w, int64_t n)
{
	if (n <= w->room)
		return 0;
	free(w->symbols);
	free(w->heap);
	w->room = 0;
	w->symbols = malloc((size_t)n * sizeof(*w->symbols));
	w->heap = malloc(3 * (size_t)n * sizeof(*w->heap));
	if (!w->symbols || !w->heap)
		return -1;
	w->room = n;
	return 0;
}

/* The bits of a score as a number that falls where the score rises. */
static uint32_t falling(float score)
{
	uint32_t bits;

	score += 0.0f; /* -0 is 0 */
	memcpy(&bits, &score, sizeof(bits));
	return bits & 0x80000000u ? bits : 0x7fffffffu - bits;
}

/* Ask whether the symbol at @at can be merged with the one after it. */
static void try_pair(struct assay_tokenizer *t, const uint8_t *s, int64_t n, int64_t at)
{
	struct tokenizer_work *w = t->work;
	const struct symbol *left = &w->symbols[at];
	int64_t len = left->len;
	int32_t found;

	if (at + len >= n)
		return;
	t->counts[ASSAY_TOKENIZER_LOOKUPS]++;
	len += left[len].len;
	if (t->v->model == ASSAY_VOCAB_SPM) {
		found = *cell_of_bytes(t, s + at, len);
		if (found >= 0)
			push(w, (struct entry){ (uint64_t)falling(t->v->scores[found]) << 32 | (uint64_t)at,
						(int32_t)len, found });
		return;
	}
	found = *cell_of_pair(t, left->id, left[left->len].id);
	if (found >= 0)
		push(w, (struct entry){ (uint64_t)found << 32 | (uint64_t)at, (int32_t)len, t->v->merges[found][2] });
}

static int64_t put_symbols(const struct assay_tokenizer *t, const uint8_t *s, int64_t n, int32_t *ids)
{
	int64_t n_ids = 0;

	for (int64_t at = 0; at < n; at += t->work->symbols[at].len) {
		const struct symbol *x = &t->work->symbols[at];

		if (x->id >= 0)
			ids[n_ids++] = x->id;
		for (int32_t i = 0; x->id < 0 && i < x->len; i++) {
			int32_t id = t->byte_ids[s[at + i]];

			if (id < 0 && t->v->model == ASSAY_VOCAB_BPE)
				continue; /* some files lack bytes that text hardly ever has; llama.cpp drops them */
			ids[n_ids++] = id < 0 ? t->v->unknown : id;
		}
	}
	return n_ids;
}

/* The ids of a piece, or of all text in SPM. */
static int64_t merge(struct assay_tokenizer *t, const uint8_t *s, int64_t n, int32_t *ids)
{
	struct tokenizer_work *w = t->work;
	int64_t len, before = 0;

	if (make_room(w, n))
		return -1;
	w->n_heap = 0;
	for (int64_t at = 0; at < n; at += len) {
		len = 1;
		if (t->v->model == ASSAY_VOCAB_SPM)
			assay_utf8(s + at, n - at, &len);
		w->symbols[at] = (struct symbol){ t->v->model == ASSAY_VOCAB_SPM ? *cell_of_bytes(t, s + at, len)
										 : t->byte_ids[s[at]],
						  (int32_t)len, (int32_t)before };
		before = len;
	}
	for (int64_t at = 0; at < n; at += w->symbols[at].len)
		try_pair(t, s, n, at);
	while (w->n_heap) {
		struct entry e = pop(w);
		int64_t at = (int64_t)(e.key & 0xffffffffu);
		struct symbol *left = &w->symbols[at], *right = left + left->len;

		if (!left->len || at + left->len >= n || left->len + right->len != e.len)
			continue;
		t->counts[ASSAY_TOKENIZER_MERGES]++;
		right->len = 0;
		left->id = e.id;
		left->len = e.len;
		if (at + e.len < n)
			left[e.len].before = e.len;
		if (at)
			try_pair(t, s, n, at - left->before);
		try_pair(t, s, n, at);
	}
	return put_symbols(t, s, n, ids);
}

/* The tokens of the pieces so far. */
struct pieces {
	struct assay_tokenizer *t;
	int32_t *ids;
	int64_t n_ids;
};

static int encode_piece(void *arg, const uint8_t *s, int64_t n)
{
	struct pieces *p = arg;
	struct assay_tokenizer *t = p->t;
	int32_t id = -1;
	int64_t more = 1;

	if (t->v->whole_words) {
		t->counts[ASSAY_TOKENIZER_LOOKUPS]++;
		id = *cell_of_bytes(t, s, n);
	}
	if (id >= 0)
		p->ids[p->n_ids] = id;
	else if ((more = merge(t, s, n, p->ids + p->n_ids)) < 0)
		return -1;
	p->n_ids += more;
	return 0;
}

static int64_t encode_pieces(struct assay_tokenizer *t, const uint8_t *s, int64_t n, int32_t *ids)
{
	struct pieces p = { t, ids, 0 };
	int64_t len;

	if (t->patterns)
		return assay_patterns_split(t->patterns, s, n, encode_piece, &p) ? -1 : p.n_ids;
	for (int64_t at = 0; at < n; at += len) {
		len = assay_tokenizer_piece(t, s + at, n - at);
		if (encode_piece(&p, s + at, len))
			return -1;
	}
	return p.n_ids;
}

/* SPM: each part of the text that begins it or follows a special token has the prefix. */
static int64_t encode_marked(struct assay_tokenizer *t, const uint8_t *s, int64_t n, int32_t *ids)
{
	const int64_t mark = (int64_t)strlen(SPACE_MARK);
	int64_t len = 0, n_ids;
	uint8_t *out = malloc((size_t)((n + 1) * mark));

	if (!out)
		return -1;
	for (int64_t i = t->v->space_prefix ? -1 : 0; i < n; i++)
		if (i < 0 || s[i] == ' ') {
			memcpy(out + len, SPACE_MARK, (size_t)mark);
			len += mark;
		} else {
			out[len++] = s[i];
		}
	n_ids = merge(t, out, len, ids);
	free(out);
	return n_ids;
}

/* ---- special tokens ---- */

struct match {
	int64_t at, len;
	int32_t order; /* of its token: the longest first */
};

static int by_order(const void *a, const void *b)
{
	const struct match *x = a, *y = b;

	return x->order != y->order ? (x->order > y->order) - (x->order < y->order) : (x->at > y->at) - (x->at < y->at);
}

static int by_place(const void *a, const void *b)
{
	const struct match *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Every place of a special token: their number, or -1 where memory is short. */
static int64_t find_matches(const struct assay_tokenizer *t, const uint8_t *s, int64_t n, bool special,
			    struct match **out)
{
	int64_t found = 0, room = 0;

	for (int64_t at = 0; at < n; at++)
		for (int32_t k = 0; t->special_starts[s[at]] && k < t->n_special; k++) {
			int32_t id = t->special[k];
			int64_t len = token_bytes(t->v, id);

			if ((!special && t->v->types[id] != ASSAY_TOKEN_USER) || len > n - at ||
			    memcmp(s + at, t->v->bytes + t->v->starts[id], (size_t)len))
				continue;
			if (found == room) {
				struct match *more = realloc(*out, (size_t)(room = 2 * room + 64) * sizeof(*more));

				if (!more)
					return -1;
				*out = more;
			}
			(*out)[found++] = (struct match){ at, len, k };
		}
	return found;
}

/* Longer tokens are taken first, and each from the left; what overlaps with one that is taken is left. */
static int64_t take_matches(struct match *m, int64_t n_matches, int64_t n)
{
	uint8_t *taken = calloc((size_t)n, 1);
	int64_t kept = 0;

	if (!taken)
		return -1;
	qsort(m, (size_t)n_matches, sizeof(*m), by_order);
	for (int64_t i = 0; i < n_matches; i++) {
		if (memchr(taken + m[i].at, 1, (size_t)m[i].len))
			continue;
		memset(taken + m[i].at, 1, (size_t)m[i].len);
		m[kept++] = m[i];
	}
	free(taken);
	qsort(m, (size_t)kept, sizeof(*m), by_place);
	return kept;
}

static int64_t encode_part(struct assay_tokenizer *t, const uint8_t *s, int64_t n, int32_t *ids)
{
	if (!n)
		return 0;
	return t->v->model == ASSAY_VOCAB_SPM ? encode_marked(t, s, n, ids) : encode_pieces(t, s, n, ids);
}

int64_t assay_tokenizer_encode(struct assay_tokenizer *t, const void *text, int64_t n, bool special, int32_t *ids)
{
	const uint8_t *s = text;
	struct match *m = NULL;
	int64_t n_ids = 0, at = 0, more, n_matches = find_matches(t, s, n, special, &m);

	if (n_matches > 0)
		n_matches = take_matches(m, n_matches, n);
	for (int64_t i = 0; i <= n_matches; i++) {
		int64_t end = i < n_matches ? m[i].at : n;

		more = encode_part(t, s + at, end - at, ids + n_ids);
		if (more < 0) {
			n_matches = -1;
			break;
		}
		n_ids += more;
		if (i < n_matches) {
			ids[n_ids++] = t->special[m[i].order];
			at = end + m[i].len;
		}
	}
	free(m);
	return n_matches < 0 ? -1 : n_ids;
}

/* ---- decoding ---- */

struct writer {
	uint8_t *out;
	int64_t n, size;
};

static void put(struct writer *w, const void *s, int64_t n)
{
	int64_t room = w->size - w->n;

	if (room > 0)
		memcpy(w->out + w->n, s, (size_t)(n < room ? n : room));
	w->n += n;
}

static void put_marked(struct writer *w, const uint8_t *s, int64_t n)
{
	const int64_t mark = (int64_t)strlen(SPACE_MARK);

	for (int64_t i = 0; i < n; i++)
		if (i + mark <= n && !memcmp(s + i, SPACE_MARK, (size_t)mark)) {
			put(w, " ", 1);
			i += mark - 1;
		} else {
			put(w, s + i, 1);
		}
}

/* False: there is no such token. */
static bool put_token(struct writer *w, const struct assay_vocab *v, int32_t id, bool special, bool first)
{
	const int64_t mark = (int64_t)strlen(SPACE_MARK);
	const uint8_t *s;
	int64_t len;

	if (id < 0 || id >= v->n_tokens)
		return false;
	if (!special && is_special(v->types[id]) && v->types[id] != ASSAY_TOKEN_USER)
		return true;
	s = v->bytes + v->starts[id];
	len = token_bytes(v, id);
	if (v->model != ASSAY_VOCAB_SPM || v->types[id] != ASSAY_TOKEN_NORMAL) {
		put(w, s, len);
		return true;
	}
	if (first && v->space_prefix && len >= mark && !memcmp(s, SPACE_MARK, (size_t)mark)) {
		s += mark;
		len -= mark;
	}
	put_marked(w, s, len);
	return true;
}

int64_t assay_tokenizer_decode(const struct assay_tokenizer *t, const int32_t *ids, int64_t n, bool special, void *text,
			       int64_t size)
{
	struct writer w = { text, 0, size };

	for (int64_t i = 0; i < n; i++)
		if (!put_token(&w, t->v, ids[i], special, !i))
			return -1;
	return w.n;
}

int64_t assay_tokenizer_next(const struct assay_tokenizer *t, int32_t id, void *text, int64_t size)
{
	struct writer w = { text, 0, size };

	return put_token(&w, t->v, id, false, false) ? w.n : -1;
}
