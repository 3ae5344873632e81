/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging the bytes of a piece. A short one is an array, whose lowest rank is searched for again and again. A long one
 * has a queue of places for each rank, and a tree of bits that finds the lowest rank with a place: pushing and popping
 * take constant time. The places of a rank are to be taken from the left, and arrive in that order: a token is made by
 * the same merges wherever it stands, and those of each rank are made from left to right. Only tokens of SPM that share
 * a score may arrive otherwise; those that do are kept in a heap beside the queue.
 */
#include <stdlib.h>

#include "tokenizer_ours.h"

#define SHORT 64

static int64_t merge_short(struct tokenizer_tables *t, const uint8_t *s, int64_t n, int32_t *ids)
{
	struct tokenizer_merge next[SHORT]; /* of the token at an index and the one after it */
	int32_t id[SHORT];

	t->lookups += (uint64_t)n - 1;
	for (int64_t i = 0; i < n; i++)
		id[i] = t->byte_ids[s[i]];
	for (int64_t i = 0; i + 1 < n; i++)
		next[i] = t->of_bytes[s[i]][s[i + 1]];
	for (;;) {
		uint32_t least = TOKENIZER_NO_RANK;
		int64_t at = 0;

		for (int64_t i = 0; i + 1 < n; i++)
			if (next[i].rank < least) {
				least = next[i].rank;
				at = i;
			}
		if (least == TOKENIZER_NO_RANK)
			break;
		t->merges++;
		id[at] = next[at].id;
		n--;
		for (int64_t i = at + 1; i < n; i++) {
			id[i] = id[i + 1];
			next[i - 1] = next[i];
		}
		if (at) {
			t->lookups++;
			next[at - 1] = tokenizer_find_merge(t, id[at - 1], id[at]);
		}
		if (at + 1 < n) {
			t->lookups++;
			next[at] = tokenizer_find_merge(t, id[at], id[at + 1]);
		}
	}
	memcpy(ids, id, (size_t)n * sizeof(ids[0]));
	return n;
}

/* ---- long pieces ---- */

/*
 * A symbol stands at the index of its first byte. Its length is at its last byte as well, where the symbol after it
 * looks for the one before it.
 */
struct symbol {
	int32_t id, len;
	struct tokenizer_merge next; /* with the one after it */
};

struct place {
	int32_t at, next; /* the next place of its rank, or a child in a heap; -1: none */
};

struct queue {
	int32_t first, last; /* places; first -1: none */
	int32_t heap;        /* its root, the leftmost of those that arrived out of order; -1: none */
};

struct tokenizer_list {
	struct symbol *symbols;
	struct place *places;
	int32_t *others; /* the other child of a place in a heap; -1: none */
	struct queue *queues;
	uint64_t *bits[4]; /* each level has a bit for each word that is not 0 of the one before */
	uint32_t least;    /* the lowest rank with a place, or TOKENIZER_NO_RANK */
	int64_t room, n_places;
};

void tokenizer_list_free(struct tokenizer_list *l)
{
	if (!l)
		return;
	free(l->symbols);
	free(l->places);
	free(l->others);
	free(l->queues);
	for (int i = 0; i < 4; i++)
		free(l->bits[i]);
	free(l);
}

/* Room for ranks, which fit into 24 bits. */
static struct tokenizer_list *new_list(int64_t n_ranks)
{
	struct tokenizer_list *l = calloc(1, sizeof(*l));
	bool failed = !l;

	for (int i = 0; i < 4 && !failed; i++) {
		l->bits[i] = calloc((size_t)(n_ranks >> (6 * i + 6)) + 1, sizeof(*l->bits[i]));
		failed = !l->bits[i];
	}
	if (!failed) {
		l->queues = malloc(((size_t)n_ranks + 1) * sizeof(*l->queues));
		failed = !l->queues;
	}
	if (failed) {
		tokenizer_list_free(l);
		return NULL;
	}
	memset(l->queues, 0xff, ((size_t)n_ranks + 1) * sizeof(*l->queues));
	l->least = TOKENIZER_NO_RANK;
	return l;
}

/* Each merge makes two pairs at most, so there are never more places than three a byte. */
static int make_room(struct tokenizer_list *l, int64_t n)
{
	if (n <= l->room)
		return 0;
	free(l->symbols);
	free(l->places);
	free(l->others);
	l->room = 0;
	l->symbols = malloc((size_t)n * sizeof(*l->symbols));
	l->places = malloc(3 * (size_t)n * sizeof(*l->places));
	l->others = malloc(3 * (size_t)n * sizeof(*l->others));
	if (!l->symbols || !l->places || !l->others)
		return -1;
	l->room = n;
	return 0;
}

/* The root of the skew heap that has the places of both heaps (Sleator and Tarjan 1986). */
static int32_t meld(struct tokenizer_list *l, int32_t a, int32_t b)
{
	int32_t root = -1, *link = &root;

	while (a >= 0 && b >= 0) {
		const bool swap = l->places[b].at < l->places[a].at;
		const int32_t least = swap ? b : a, rest = l->others[least];

		b = swap ? a : b;
		a = rest;
		l->others[least] = l->places[least].next;
		*link = least;
		link = &l->places[least].next;
	}
	*link = a >= 0 ? a : b;
	return root;
}

static inline void push(struct tokenizer_list *l, uint32_t rank, int32_t at)
{
	struct queue *q = &l->queues[rank];
	const int32_t k = (int32_t)l->n_places++;
	const bool empty = q->first < 0 && q->heap < 0;

	l->places[k] = (struct place){ at, -1 };
	l->least = rank < l->least ? rank : l->least;
	if (q->first < 0) {
		q->first = q->last = k;
	} else if (l->places[q->last].at <= at) {
		l->places[q->last].next = k;
		q->last = k;
	} else {
		l->others[k] = -1;
		q->heap = meld(l, q->heap, k);
	}
	for (int i = 0; i < 4 && empty; i++, rank >>= 6)
		l->bits[i][rank >> 6] |= UINT64_C(1) << (rank & 63);
}

static void clear(struct tokenizer_list *l, uint32_t rank)
{
	for (int i = 0; i < 4; i++, rank >>= 6) {
		l->bits[i][rank >> 6] &= ~(UINT64_C(1) << (rank & 63));
		if (l->bits[i][rank >> 6])
			return;
	}
}

static uint32_t lowest(const struct tokenizer_list *l)
{
	uint32_t word = 0;

	if (!l->bits[3][0])
		return TOKENIZER_NO_RANK;
	for (int i = 3; i >= 0; i--)
		word = word << 6 | (uint32_t)__builtin_ctzll(l->bits[i][word]);
	return word;
}

/* The leftmost place of the lowest rank; false: there is none. */
static bool pop(struct tokenizer_list *l, uint32_t *rank, int32_t *at)
{
	struct queue *q;

	*rank = l->least;
	if (*rank == TOKENIZER_NO_RANK)
		return false;
	q = &l->queues[*rank];
	if (q->heap >= 0 && (q->first < 0 || l->places[q->heap].at < l->places[q->first].at)) {
		*at = l->places[q->heap].at;
		q->heap = meld(l, l->places[q->heap].next, l->others[q->heap]);
	} else {
		*at = l->places[q->first].at;
		q->first = l->places[q->first].next;
	}
	if (q->first < 0 && q->heap < 0) {
		clear(l, *rank);
		l->least = lowest(l);
	}
	return true;
}

/* In SPM, two symbols are merged if their bytes are a token, whatever they are themselves. */
static struct tokenizer_merge find_whole(const struct tokenizer_tables *t, const uint8_t *s, int64_t n)
{
	const int32_t id = n <= t->longest ? *tokenizer_find_token(t, s, n) : -1;

	return id < 0 ? (struct tokenizer_merge){ TOKENIZER_NO_RANK, 0 } : (struct tokenizer_merge){ t->ranks[id], id };
}

static inline void look_up(struct tokenizer_tables *t, const uint8_t *s, int32_t at, int64_t n)
{
	struct symbol *x = &t->list->symbols[at];

	x->next.rank = TOKENIZER_NO_RANK;
	if (at + x->len >= n)
		return;
	t->lookups++;
	x->next =
		t->ranks ? find_whole(t, s + at, x->len + x[x->len].len) : tokenizer_find_merge(t, x->id, x[x->len].id);
	if (x->next.rank != TOKENIZER_NO_RANK)
		push(t->list, x->next.rank, at);
}

/* The symbols that merging begins with: bytes, of whose pairs there is a table. */
static void first_bytes(struct tokenizer_tables *t, const uint8_t *s, int64_t n)
{
	struct symbol *x = t->list->symbols;

	for (int64_t at = 0; at + 1 < n; at++) {
		x[at] = (struct symbol){ t->byte_ids[s[at]], 1, t->of_bytes[s[at]][s[at + 1]] };
		if (x[at].next.rank != TOKENIZER_NO_RANK)
			push(t->list, x[at].next.rank, (int32_t)at);
	}
	x[n - 1] = (struct symbol){ t->byte_ids[s[n - 1]], 1, { TOKENIZER_NO_RANK, 0 } };
	t->lookups += (uint64_t)n - 1;
}

/* In SPM, characters. */
static void first_characters(struct tokenizer_tables *t, const uint8_t *s, int64_t n)
{
	struct symbol *x = t->list->symbols;
	int64_t len;

	for (int64_t at = 0; at < n; at += len) {
		assay_utf8(s + at, n - at, &len);
		x[at] = (struct symbol){ *tokenizer_find_token(t, s + at, len),
					 (int32_t)len,
					 { TOKENIZER_NO_RANK, 0 } };
		x[at + len - 1].len = (int32_t)len;
	}
	for (int64_t at = 0; at < n; at += t->list->symbols[at].len)
		look_up(t, s, (int32_t)at, n);
}

/* A symbol that is no token becomes those of its bytes. */
static int64_t put_symbols(const struct tokenizer_tables *t, const uint8_t *s, int64_t n, int32_t *ids)
{
	int64_t n_ids = 0;

	for (int64_t at = 0; at < n; at += t->list->symbols[at].len) {
		const struct symbol *x = &t->list->symbols[at];

		if (x->id >= 0)
			ids[n_ids++] = x->id;
		for (int32_t i = 0; x->id < 0 && i < x->len; i++)
			ids[n_ids++] = t->byte_ids[s[at + i]];
	}
	return n_ids;
}

static int64_t merge_long(struct tokenizer_tables *t, const uint8_t *s, int64_t n, int32_t *ids)
{
	struct symbol *x;
	uint32_t rank;
	int32_t at;

	if (!t->list)
		t->list = new_list(t->ranks ? t->v->n_tokens : t->v->n_merges);
	if (!t->list || make_room(t->list, n))
		return -1;
	x = t->list->symbols;
	t->list->n_places = 0;
	if (t->ranks)
		first_characters(t, s, n);
	else
		first_bytes(t, s, n);
	while (pop(t->list, &rank, &at)) {
		int32_t right = at + x[at].len;

		/* a place whose pair has changed since has another rank */
		if (x[at].next.rank != rank)
			continue;
		t->merges++;
		x[at].id = x[at].next.id;
		x[at].len += x[right].len;
		x[right].next.rank = TOKENIZER_NO_RANK;
		x[at + x[at].len - 1].len = x[at].len;
		if (at)
			look_up(t, s, at - x[at - 1].len, n);
		look_up(t, s, at, n);
	}
	return put_symbols(t, s, n, ids);
}

int64_t tokenizer_merge_piece(struct tokenizer_tables *t, const uint8_t *s, int64_t n, int32_t *ids)
{
	return n <= SHORT && !t->ranks ? merge_short(t, s, n, ids) : merge_long(t, s, n, ids);
}
