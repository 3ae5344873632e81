/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training of BPE: the pieces of a text with their numbers, and again and again the pair of tokens that occurs most
 * often in them becomes a token. Each pair has a list of the pieces that had it at some time, so that a merge visits
 * only those. SPM is trained alike, from characters in place of bytes, and its scores fall from merge to merge.
 */
#include "gguf/tokenizer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/unicode_classes.h"
#include "gguf/corpora.h"

#define SPACE_MARK   "\xe2\x96\x81"
#define MOST_LETTERS 32 /* the first ones of a piece are learnt from */

static const char *const specials[] = { "<unk>", "<s>", "</s>" };
enum { N_SPECIALS = 3, N_FIRST = 256 + N_SPECIALS, N_CHARS = 0x10000 };

struct piece {
	int64_t count, n;
	int32_t ids[MOST_LETTERS];
};

struct pair {
	int32_t left, right;
	int64_t count, pushed; /* as it is, and as it was when it was pushed */
	int64_t places;        /* the last place of its list; -1: none */
};

struct place {
	int32_t piece;
	int64_t next;
};

struct trainer {
	struct tokenizer_vocab *out;
	int32_t n_tokens; /* wanted */
	struct piece *pieces;
	struct pair *pairs;
	struct place *places;
	int64_t *heap;    /* pairs, the most frequent one first by what it was when it was pushed */
	int32_t *by_ids;  /* pieces, hashed by their tokens; -1: free */
	int32_t *by_pair; /* pairs, likewise */
	int32_t *of_char; /* tokens of characters, in SPM; 0: none yet */
	int64_t n_pieces, n_places, n_pairs, n_heap;
	int64_t room_places;
};

/* Cells of both tables; half of them may be used. */
#define CELLS (1 << 20)

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* The pair, which is made where there is none; NULL: the table is full. */
static struct pair *find_pair(struct trainer *t, int32_t left, int32_t right)
{
	uint64_t i = mix(mix(1, (uint64_t)left), (uint64_t)right) % CELLS;

	for (; t->by_pair[i] >= 0; i = (i + 1) % CELLS) {
		struct pair *p = &t->pairs[t->by_pair[i]];

		if (p->left == left && p->right == right)
			return p;
	}
	if (t->n_pairs == CELLS / 2)
		return NULL;
	t->by_pair[i] = (int32_t)t->n_pairs;
	t->pairs[t->n_pairs] = (struct pair){ left, right, 0, 0, -1 };
	return &t->pairs[t->n_pairs++];
}

/* Count the pair at @at of piece @k @by times more; -1 where memory is short. */
static int count_pair(struct trainer *t, int32_t k, int64_t at, int64_t by)
{
	const struct piece *x = &t->pieces[k];
	struct pair *p;

	if (at < 0 || at + 1 >= x->n)
		return 0;
	p = find_pair(t, x->ids[at], x->ids[at + 1]);
	if (!p)
		return -1;
	p->count += by * x->count;
	if (by < 0)
		return 0;
	if (t->n_places == t->room_places) {
		int64_t room = 2 * t->room_places + 4096;
		struct place *more = realloc(t->places, (size_t)room * sizeof(*more));

		if (!more)
			return -1;
		t->places = more;
		t->room_places = room;
	}
	t->places[t->n_places] = (struct place){ k, p->places };
	p->places = t->n_places++;
	return 0;
}

/* ---- pieces ---- */

static int add_piece(struct trainer *t, const int32_t *ids, int64_t n)
{
	const size_t bytes = (size_t)n * sizeof(ids[0]);
	uint64_t h = (uint64_t)n;

	for (int64_t i = 0; i < n; i++)
		h = mix(h, (uint64_t)ids[i]);
	for (h %= CELLS; t->by_ids[h] >= 0; h = (h + 1) % CELLS) {
		struct piece *x = &t->pieces[t->by_ids[h]];

		if (x->n == n && !memcmp(x->ids, ids, bytes)) {
			x->count++;
			return 0;
		}
	}
	if (t->n_pieces == CELLS / 2)
		return -1;
	t->by_ids[h] = (int32_t)t->n_pieces;
	t->pieces[t->n_pieces] = (struct piece){ .count = 1, .n = n };
	memcpy(t->pieces[t->n_pieces++].ids, ids, bytes);
	return 0;
}

/* A token that is made of @n bytes; there is room for it. */
static int32_t add_token(struct tokenizer_vocab *out, const void *s, int64_t n, enum assay_token_type type)
{
	int32_t id = out->v.n_tokens++;

	memcpy(out->bytes + out->starts[id], s, (size_t)n);
	out->starts[id + 1] = out->starts[id] + n;
	out->types[id] = (uint8_t)type;
	out->scores[id] = (float)(N_FIRST - id);
	return id;
}

/* The token of a character, which is made if there is none. */
static int32_t token_of_char(struct trainer *t, const char *s, uint32_t c, int64_t n)
{
	if (!t->of_char[c] && t->out->v.n_tokens < t->n_tokens)
		t->of_char[c] = add_token(t->out, s, n, ASSAY_TOKEN_NORMAL);
	return t->of_char[c];
}

/* SPM has no pieces of its own: words with the mark before them. A word with a rare character is not learnt. */
static int learn_word(struct trainer *t, const uint8_t *s, int64_t n, int64_t *len)
{
	int32_t ids[MOST_LETTERS];
	int64_t n_ids = 0, step;
	bool known = true;

	*len = s[0] == ' ';
	if (*len)
		ids[n_ids++] = token_of_char(t, SPACE_MARK, 0x2581, (int64_t)strlen(SPACE_MARK));
	for (; *len < n && s[*len] != ' ' && n_ids < MOST_LETTERS; *len += step) {
		uint32_t c = assay_utf8(s + *len, n - *len, &step);

		ids[n_ids] = c < N_CHARS ? token_of_char(t, (const char *)s + *len, c, step) : 0;
		known = known && ids[n_ids++];
	}
	return known && n_ids ? add_piece(t, ids, n_ids) : 0;
}

static int learn_pieces(struct trainer *t, const struct assay_tokenizer *of, const uint8_t *s, int64_t n)
{
	int64_t len, n_ids;
	int rc = 0;

	for (int64_t at = 0; at < n && !rc; at += len) {
		int32_t ids[MOST_LETTERS];

		if (of->v->model == ASSAY_VOCAB_SPM) {
			rc = learn_word(t, s + at, n - at, &len);
			continue;
		}
		len = assay_tokenizer_piece(of, s + at, n - at);
		n_ids = len < MOST_LETTERS ? len : MOST_LETTERS;
		for (int64_t i = 0; i < n_ids; i++)
			ids[i] = N_SPECIALS + s[at + i];
		rc = add_piece(t, ids, n_ids);
	}
	return rc;
}

/* ---- merging ---- */

/* Is @a to be merged before @b? Of pairs of one count, the one that was seen first. */
static bool before(const struct trainer *t, int64_t a, int64_t b)
{
	const struct pair *x = &t->pairs[a], *y = &t->pairs[b];

	return x->pushed != y->pushed ? x->pushed > y->pushed : a < b;
}

static void push_pair(struct trainer *t, int64_t k)
{
	int64_t i = t->n_heap++;

	t->pairs[k].pushed = t->pairs[k].count;
	for (; i && before(t, k, t->heap[(i - 1) / 2]); i = (i - 1) / 2)
		t->heap[i] = t->heap[(i - 1) / 2];
	t->heap[i] = k;
}

static int64_t pop_pair(struct trainer *t)
{
	int64_t first = t->heap[0], k = t->heap[--t->n_heap], i = 0, child;

	while ((child = 2 * i + 1) < t->n_heap) {
		child += child + 1 < t->n_heap && before(t, t->heap[child + 1], t->heap[child]);
		if (!before(t, t->heap[child], k))
			break;
		t->heap[i] = t->heap[child];
		i = child;
	}
	t->heap[i] = k;
	return first;
}

/* The most frequent pair, or NULL where each occurs once. A count can only fall after its pair was pushed. */
static struct pair *best_pair(struct trainer *t)
{
	while (t->n_heap) {
		int64_t k = pop_pair(t);

		if (t->pairs[k].count < 2)
			continue;
		if (t->pairs[k].count == t->pairs[k].pushed)
			return &t->pairs[k];
		push_pair(t, k);
	}
	return NULL;
}

static int merge_in(struct trainer *t, int32_t k, int32_t left, int32_t right, int32_t id)
{
	struct piece *x = &t->pieces[k];
	int rc = 0;

	for (int64_t at = 0; at + 1 < x->n && !rc; at++) {
		if (x->ids[at] != left || x->ids[at + 1] != right)
			continue;
		rc = count_pair(t, k, at - 1, -1) || count_pair(t, k, at, -1) || count_pair(t, k, at + 1, -1);
		x->ids[at] = id;
		memmove(x->ids + at + 1, x->ids + at + 2, (size_t)(x->n - at - 2) * sizeof(x->ids[0]));
		x->n--;
		rc = rc || count_pair(t, k, at - 1, 1) || count_pair(t, k, at, 1);
	}
	return rc;
}

/* Is there a token of these bytes? Another one of them would never be found again. */
static bool known(const struct assay_vocab *v, const uint8_t *s, int64_t n)
{
	for (int32_t i = 0; i < v->n_tokens; i++)
		if (v->starts[i + 1] - v->starts[i] == n && !memcmp(v->bytes + v->starts[i], s, (size_t)n))
			return true;
	return false;
}

/* Make the pair a token, and merge it wherever it is. */
static int merge_pair(struct trainer *t, const struct pair *p)
{
	struct tokenizer_vocab *out = t->out;
	struct assay_vocab *v = &out->v;
	int32_t *m = v->merges[v->n_merges];
	int64_t n[2], first_new = t->n_pairs;
	uint8_t s[MOST_LETTERS * 4];

	m[0] = p->left;
	m[1] = p->right;
	for (int side = 0; side < 2; side++) {
		n[side] = v->starts[m[side] + 1] - v->starts[m[side]];
		memcpy(s + (side ? n[0] : 0), v->bytes + v->starts[m[side]], (size_t)n[side]);
	}
	if (known(v, s, n[0] + n[1]))
		return 0;
	m[2] = add_token(out, s, n[0] + n[1], ASSAY_TOKEN_NORMAL);
	v->n_merges++;
	for (int64_t place = p->places; place >= 0; place = t->places[place].next)
		if (merge_in(t, t->places[place].piece, m[0], m[1], m[2]))
			return -1;
	for (int64_t k = first_new; k < t->n_pairs; k++)
		push_pair(t, k);
	return 0;
}

static int train(struct trainer *t, struct assay_reason *why)
{
	int rc = 0;

	for (int32_t k = 0; k < t->n_pieces && !rc; k++)
		for (int64_t at = 0; at + 1 < t->pieces[k].n && !rc; at++)
			rc = count_pair(t, k, at, 1);
	for (int64_t k = 0; k < t->n_pairs; k++)
		push_pair(t, k);
	while (!rc && t->out->v.n_tokens < t->n_tokens) {
		const struct pair *p = best_pair(t);

		if (!p) {
			snprintf(why->text, sizeof(why->text), "the text has pairs for %d tokens, expected %d",
				 t->out->v.n_tokens, t->n_tokens);
			return -1;
		}
		rc = merge_pair(t, p);
	}
	if (rc)
		snprintf(why->text, sizeof(why->text), "a text has too many pairs to learn %d tokens", t->n_tokens);
	return rc;
}

static void first_tokens(struct tokenizer_vocab *out)
{
	struct assay_vocab *v = &out->v;

	out->starts[0] = 0;
	for (int32_t i = 0; i < N_SPECIALS; i++)
		add_token(out, specials[i], (int64_t)strlen(specials[i]),
			  i ? ASSAY_TOKEN_CONTROL : ASSAY_TOKEN_UNKNOWN);
	for (int32_t b = 0; b < 256; b++) {
		uint8_t byte = (uint8_t)b;

		add_token(out, &byte, 1, v->model == ASSAY_VOCAB_SPM ? ASSAY_TOKEN_BYTE : ASSAY_TOKEN_NORMAL);
	}
	v->unknown = 0;
	v->bos = 1;
	v->eos = 2;
	v->eot = -1;
}

static int new_vocab(struct tokenizer_vocab *out, int64_t name, size_t most)
{
	struct assay_vocab *v = &out->v;

	*out = (struct tokenizer_vocab){ .v = { .size = sizeof(out->v) } };
	v->model = assay_tokenizer_model(name);
	v->pre = name == ASSAY_N_PRES ? 0 : (uint32_t)name;
	v->pre_name = assay_vocab_names[name];
	v->space_prefix = v->model == ASSAY_VOCAB_SPM;
	v->whole_words = name == ASSAY_PRE_LLAMA_BPE;
	v->bytes = out->bytes = malloc(most * MOST_LETTERS * 4);
	v->types = out->types = malloc(most);
	v->starts = out->starts = malloc((most + 1) * sizeof(*out->starts));
	v->scores = out->scores = calloc(most, sizeof(*out->scores));
	v->merges = malloc(most * sizeof(*v->merges));
	if (!out->bytes || !out->types || !out->starts || !out->scores || !v->merges)
		return -1;
	first_tokens(out);
	return 0;
}

int assay_vocab_train(struct tokenizer_vocab *out, int64_t name, int32_t n_tokens, const uint8_t *text, int64_t n,
		      struct assay_reason *why)
{
	struct trainer t = { .out = out, .n_tokens = n_tokens };
	struct assay_tokenizer of = { 0 };
	int rc = new_vocab(out, name, (size_t)(n_tokens > N_FIRST ? n_tokens : N_FIRST));

	t.pieces = malloc(CELLS / 2 * sizeof(*t.pieces));
	t.pairs = malloc(CELLS / 2 * sizeof(*t.pairs));
	t.heap = malloc(CELLS / 2 * sizeof(*t.heap));
	t.by_ids = malloc(CELLS * sizeof(*t.by_ids));
	t.by_pair = malloc(CELLS * sizeof(*t.by_pair));
	t.of_char = calloc(N_CHARS, sizeof(*t.of_char));
	if (rc || !t.pieces || !t.pairs || !t.heap || !t.by_ids || !t.by_pair || !t.of_char) {
		snprintf(why->text, sizeof(why->text), "not enough memory to train a vocabulary");
		rc = -1;
		goto out;
	}
	memset(t.by_ids, 0xff, CELLS * sizeof(*t.by_ids));
	memset(t.by_pair, 0xff, CELLS * sizeof(*t.by_pair));
	rc = assay_tokenizer_init(&of, &out->v, why);
	if (!rc && learn_pieces(&t, &of, text, n)) {
		snprintf(why->text, sizeof(why->text), "a text has too many words to learn from");
		rc = -1;
	}
	if (!rc)
		rc = train(&t, why);
out:
	assay_tokenizer_release(&of);
	free(t.pieces);
	free(t.pairs);
	free(t.places);
	free(t.heap);
	free(t.by_ids);
	free(t.by_pair);
	free(t.of_char);
	if (rc)
		assay_vocab_release(out);
	return rc;
}

#define CORPUS_BYTES (96 << 10) /* of each corpus */
/* Pages that no text of the ops reaches: a vocabulary has not seen the text. */
#define TRAINING_PAGE (UINT64_C(1) << 24)

int assay_vocab_train_seeded(struct tokenizer_vocab *out, int64_t name, int32_t n_tokens, uint64_t seed,
			     struct assay_reason *why)
{
	int64_t n = 0;
	uint8_t *text;
	int rc;

	while (assay_text_corpora[n])
		n++;
	text = malloc((size_t)n * CORPUS_BYTES);
	if (!text) {
		snprintf(why->text, sizeof(why->text), "not enough memory to train a vocabulary");
		return -1;
	}
	for (int64_t i = 0; i < n; i++)
		assay_corpus_bytes(seed, assay_corpus_named(assay_text_corpora[i]), TRAINING_PAGE,
				   text + i * CORPUS_BYTES, CORPUS_BYTES);
	rc = assay_vocab_train(out, name, n_tokens, text, n * CORPUS_BYTES, why);
	free(text);
	return rc;
}
