/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The corpora, a page at a time. Only integers and single roundings of floats are used, so that a seed gives the same
 * bits on every machine.
 */
#include "gguf/corpora.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "assay/float_bits.h"
#include "assay/random.h"

const char *const assay_corpus_names[] = { "text",  "json", "f32",    "bf16",    "ternary", "kv",
					   "pages", "code", "digits", "scripts", "letter",  NULL };
const char *const assay_text_corpora[] = { "text", "code", "digits", "scripts", "letter", NULL };

#define CHANNELS     128 /* of an attention head */
#define WEIGHT_SCALE 0.02f

/* Streams of the generator: one a corpus, and one for what all pages share. */
#define SHARED 100

/* Random words of one page, one after the other. */
struct draws {
	uint64_t seed, next;
	uint32_t stream;
	struct assay_philox words;
};

static uint32_t draw(struct draws *d)
{
	if (d->next % 4 == 0)
		d->words = assay_random4(d->seed, d->stream, d->next / 4);
	return d->words.v[d->next++ % 4];
}

static uint32_t below(struct draws *d, uint32_t n)
{
	return (uint32_t)((uint64_t)draw(d) * n >> 32);
}

static struct draws page_draws(uint64_t seed, uint32_t stream, uint64_t page)
{
	return (struct draws){ .seed = seed, .stream = stream, .next = page << 16 };
}

/* A page that is written from the front; what does not fit is dropped. */
struct page {
	uint8_t *data;
	size_t n;
};

static bool full(const struct page *p)
{
	return p->n >= ASSAY_CORPUS_PAGE;
}

static void put(struct page *p, const void *bytes, size_t n)
{
	size_t room = ASSAY_CORPUS_PAGE - p->n;

	n = n < room ? n : room;
	memcpy(p->data + p->n, bytes, n);
	p->n += n;
}

/*
 * A word of the vocabulary. Its rank falls into each power of two with equal probability, as Zipf's law has it; a word
 * is made of syllables that follow from its rank, frequent ones being short.
 */
static size_t word(struct draws *d, char out[32])
{
	static const char *const starts[] = { "b", "c", "d", "f", "g", "h",  "l",  "m",  "n",  "p",
					      "r", "s", "t", "v", "w", "th", "st", "tr", "ch", "" };
	static const char *const vowels[] = { "a", "e", "i", "o", "u", "ea", "ou", "e" };
	static const char *const ends[] = { "", "n", "r", "s", "t", "l", "d", "ng", "", "" };
	uint32_t octave = below(d, 14), rank = (1u << octave) + below(d, 1u << octave);
	struct assay_philox r = assay_random4(d->seed, SHARED, rank);
	size_t n = 0;

	for (uint32_t i = 0; i < 1 + octave / 5 + r.v[3] % 2; i++)
		n += (size_t)snprintf(out + n, 32 - n, "%s%s%s", starts[(r.v[0] >> 8 * i & 0xff) % 20],
				      vowels[(r.v[1] >> 8 * i & 0xff) % 8], ends[(r.v[2] >> 8 * i & 0xff) % 10]);
	return n;
}

static void text(struct draws *d, struct page *p)
{
	while (!full(p)) {
		uint32_t words = 4 + below(d, 18);
		char w[32];

		for (uint32_t i = 0; i < words; i++) {
			size_t n = word(d, w);

			if (!i)
				w[0] = (char)(w[0] - 'a' + 'A');
			put(p, w, n);
			if (i + 1 == words)
				put(p, ".", 1);
			else if (below(d, 12))
				put(p, " ", 1);
			else
				put(p, ", ", 2);
		}
		put(p, below(d, 6) ? " " : "\n", 1);
	}
}

static void json(struct draws *d, struct page *p)
{
	for (uint32_t id = below(d, 1u << 24); !full(p); id++) {
		char record[320], user[32], tag[2][32];
		/* one declaration a draw: arguments of a call are drawn in any order */
		const uint32_t cents = below(d, 100000), active = below(d, 4), month = 1 + below(d, 12),
			       day = 1 + below(d, 28), hour = below(d, 24), minute = below(d, 60),
			       second = below(d, 60);

		word(d, user);
		word(d, tag[0]);
		word(d, tag[1]);
		put(p, record,
		    (size_t)snprintf(record, sizeof(record),
				     "{\"id\":%u,\"user\":\"%s\",\"active\":%s,\"balance\":%u.%02u,\"tags\":[\"%s\","
				     "\"%s\"],\"created\":\"2026-%02u-%02uT%02u:%02u:%02uZ\"}\n",
				     id, user, active ? "true" : "false", cents / 100, cents % 100, tag[0], tag[1],
				     month, day, hour, minute, second));
	}
}

/* Two draws, because one has only a thousand values. */
static float weight(struct draws *d)
{
	float coarse = assay_normal_f32(draw(d)), fine = assay_normal_f32(draw(d));

	return WEIGHT_SCALE * (coarse + 0x1p-8f * fine);
}

static void f32(struct draws *d, struct page *p)
{
	while (!full(p)) {
		float v = weight(d);

		put(p, &v, sizeof(v));
	}
}

static void bf16(struct draws *d, struct page *p)
{
	while (!full(p)) {
		uint16_t v = assay_bf16_of_f32(weight(d));

		put(p, &v, sizeof(v));
	}
}

/* Four codes of two bits a byte, 1 half of the time, 0 and 2 a quarter each: 1.5 bits of entropy in two. */
static void ternary(struct draws *d, struct page *p)
{
	while (!full(p)) {
		uint32_t w = draw(d), codes = (w & 0x55555555u) + (w >> 1 & 0x55555555u);

		put(p, &codes, sizeof(codes));
	}
}

/*
 * Keys of 16 tokens in bf16. Each channel has a mean and a spread that all tokens share, and changes little from token
 * to token.
 */
static void kv(struct draws *d, struct page *p)
{
	float state[CHANNELS] = { 0 };

	while (!full(p))
		for (uint32_t c = 0; c < CHANNELS; c++) {
			struct assay_philox r = assay_random4(d->seed, SHARED + 1, c);
			float mean = 2 * assay_normal_f32(r.v[0]), spread = 0.125f + assay_uniform_f32(r.v[1]);
			uint16_t v;

			state[c] = 0.75f * state[c] + 0.625f * assay_normal_f32(draw(d));
			v = assay_bf16_of_f32(mean + spread * state[c]);
			put(p, &v, sizeof(v));
		}
}

/*
 * A page of a table: a header, the places of its rows from the front, the rows from the back, and zeros where it is
 * free. Numbers are big-endian, as in SQLite.
 */
static void table(struct draws *d, struct page *p)
{
	size_t at = ASSAY_CORPUS_PAGE, rows = 0, keep = 512 + below(d, 1024);
	uint32_t id = below(d, 1u << 24);

	memset(p->data, 0, ASSAY_CORPUS_PAGE);
	for (;; rows++) {
		uint8_t row[256] = { 0 };
		char city[32], name[32];
		size_t n_name = word(d, name), n_city = word(d, city), n = 0;
		uint32_t fields[2] = { id++, 1700000000u + below(d, 1u << 24) }, amount = below(d, 5000);

		row[n++] = 5;
		row[n++] = (uint8_t)(13 + 2 * n_name);
		row[n++] = (uint8_t)(13 + 2 * n_city);
		for (int f = 0; f < 2; f++)
			for (int shift = 24; shift >= 0; shift -= 8)
				row[n++] = (uint8_t)(fields[f] >> shift);
		row[n++] = (uint8_t)(amount >> 8);
		row[n++] = (uint8_t)amount;
		memcpy(row + n, name, n_name);
		memcpy(row + n + n_name, city, n_city);
		n += n_name + n_city;
		if (at < 8 + 2 * (rows + 1) + n + keep)
			break;
		at -= n;
		memcpy(p->data + at, row, n);
		p->data[8 + 2 * rows] = (uint8_t)(at >> 8);
		p->data[9 + 2 * rows] = (uint8_t)at;
	}
	p->data[0] = 13; /* a leaf */
	p->data[3] = (uint8_t)(rows >> 8);
	p->data[4] = (uint8_t)rows;
	p->data[5] = (uint8_t)(at >> 8);
	p->data[6] = (uint8_t)at;
}

/* Statements like those of C, in functions whose blocks nest. */
static void code(struct draws *d, struct page *p)
{
	static const char *const forms[] = { "if (%s < %s) {\n",         "for (int %s = 0; i < %s; i++) {\n",
					     "%s = %s + 1;\n",           "return %s->%s;\n",
					     "%s(%s, \"%%d\\n\");\n",    "/* %s the %s */\n",
					     "static int %s_%s(void)\n", "const uint32_t %s[] = { %s };\n",
					     "%s[i] &= 0x7f & ~%s;\n",   "}\n\n" };
	uint32_t depth = 0;

	while (!full(p)) {
		const uint32_t form = below(d, 10);
		char names[2][32], line[128];

		word(d, names[0]);
		word(d, names[1]);
		if (form == 9 && depth)
			depth--;
		put(p, "\t\t\t\t\t\t\t\t", depth);
		put(p, line, (size_t)snprintf(line, sizeof(line), forms[form], names[0], names[1]));
		if (form < 2 && depth < 8)
			depth++;
	}
}

static void digits(struct draws *d, struct page *p)
{
	while (!full(p)) {
		char number[24];
		const uint32_t form = below(d, 4), bits = below(d, 32), value = draw(d) >> bits;

		put(p, number,
		    (size_t)snprintf(number, sizeof(number),
				     form == 0   ? "%u "
				     : form == 1 ? "%u, "
				     : form == 2 ? "-0.%u\n"
						 : "%u.5e-3 ",
				     value));
	}
}

static size_t utf8_of(uint32_t c, char *out)
{
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | c >> 12);
	out[1] = (char)(0x80 | (c >> 6 & 0x3f));
	out[2] = (char)(0x80 | (c & 0x3f));
	return 3;
}

/* Greek, Cyrillic, Hebrew, Arabic, Devanagari, Thai, kana, Han and Hangul, in sentences of one script. */
static void scripts(struct draws *d, struct page *p)
{
	static const struct {
		uint32_t first, n, most; /* letters of a word */
	} of[] = { { 0x3b1, 17, 9 },  { 0x430, 32, 9 },  { 0x5d0, 27, 7 },    { 0x621, 26, 7 },  { 0x905, 53, 6 },
		   { 0xe01, 46, 12 }, { 0x3042, 82, 5 }, { 0x4e00, 1500, 2 }, { 0xac00, 900, 3 } };

	while (!full(p)) {
		const uint32_t k = below(d, sizeof(of) / sizeof(of[0])), words = 3 + below(d, 12);

		for (uint32_t i = 0; i < words && !full(p); i++) {
			uint32_t octave = below(d, 10), rank = (1u << octave) + below(d, 1u << octave);
			char w[64];
			size_t n = 0;

			for (uint32_t c = 0; c < 1 + rank % of[k].most; c++) {
				struct assay_philox r = assay_random4(d->seed, SHARED + 2 + k, rank * 16u + c);

				n += utf8_of(of[k].first + (r.v[0] % of[k].n) * (r.v[1] % of[k].n) / of[k].n, w + n);
			}
			w[n++] = i + 1 < words ? ' ' : '\n';
			if (p->n + n > ASSAY_CORPUS_PAGE) /* no page ends within a character */
				memset(w, '\n', n);
			put(p, w, n);
		}
	}
}

static void letter(struct draws *d, struct page *p)
{
	(void)d;
	memset(p->data, 'a', ASSAY_CORPUS_PAGE);
}

static void (*const makers[])(struct draws *d, struct page *p) = { text,  json, f32,    bf16,    ternary, kv,
								   table, code, digits, scripts, letter };

void assay_corpus_page(uint64_t seed, int64_t corpus, uint64_t page, uint8_t out[ASSAY_CORPUS_PAGE])
{
	struct draws d = page_draws(seed, (uint32_t)corpus, page);
	struct page p = { out, 0 };

	makers[corpus](&d, &p);
}

void assay_corpus_bytes(uint64_t seed, int64_t corpus, uint64_t page, uint8_t *out, int64_t n)
{
	uint8_t whole[ASSAY_CORPUS_PAGE];

	for (int64_t at = 0; at < n; at += ASSAY_CORPUS_PAGE, page++) {
		assay_corpus_page(seed, corpus, page, whole);
		memcpy(out + at, whole, (size_t)(n - at < ASSAY_CORPUS_PAGE ? n - at : ASSAY_CORPUS_PAGE));
	}
}

int64_t assay_corpus_named(const char *name)
{
	int64_t k = 0;

	while (strcmp(assay_corpus_names[k], name) != 0)
		k++;
	return k;
}
