/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/code_point.h"

/* ---- errors ---- */

/* "benchmarks[3].real_time" */
static void add_path(const struct assay_json *j, struct assay_text *t)
{
	for (unsigned i = 0; i < j->depth; i++) {
		const struct assay_json_level *l = &j->levels[i];

		if (l->n && !l->object)
			assay_text_addf(t, "[%zu]", l->n - 1);
		else if (l->n)
			assay_text_addf(t, "%s%.40s", t->len ? "." : "", l->name);
	}
}

int assay_json_fail(struct assay_json *j, const char *fmt, ...)
{
	struct assay_text where = { 0 };
	char why[256], at[200];
	va_list ap;

	if (j->rc)
		return j->rc;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	add_path(j, &where);
	snprintf(at, sizeof(at), "%s%s", where.len ? where.s : "", where.len ? ": " : "");
	assay_text_release(&where);
	assay_printable_line(at, sizeof(at));
	assay_printable_line(why, sizeof(why));
	j->rc = assay_err_set(j->err, ASSAY_EUSAGE, "%.160s:%llu: %s%s", j->path, (unsigned long long)j->line + 1, at,
			      why);
	return j->rc;
}

void assay_json_release(struct assay_json *j)
{
	assay_text_release(&j->token);
}

/* ---- bytes ---- */

/* Read on behind the first @kept bytes of the buffer. */
static void fill(struct assay_json *j, size_t kept)
{
	ssize_t n = j->rc || j->ended ? 0 : j->source(j->arg, j->buf + kept, sizeof(j->buf) - kept, j->err);

	if (n < 0)
		j->rc = (int)n;
	j->ended = n <= 0;
	j->at = 0;
	j->len = kept + (n > 0 ? (size_t)n : 0);
}

/* The byte that comes next, or -1. */
static int look(struct assay_json *j)
{
	if (j->at == j->len)
		fill(j, 0);
	return j->at < j->len ? (unsigned char)j->buf[j->at] : -1;
}

/* The byte behind that one, which is there. */
static int look_second(struct assay_json *j)
{
	if (j->at + 1 == j->len) {
		j->buf[0] = j->buf[j->at];
		fill(j, 1);
	}
	return j->at + 1 < j->len ? (unsigned char)j->buf[j->at + 1] : -1;
}

static int take(struct assay_json *j)
{
	int c = look(j);

	if (c < 0)
		return c;
	j->at++;
	j->line += c == '\n';
	return c;
}

/* The byte behind the blanks. */
static int look_on(struct assay_json *j)
{
	int c;

	/* most files are large, and most bytes are at hand and no blanks */
	if (j->begun && !j->rc && j->at < j->len && (unsigned char)j->buf[j->at] > ' ')
		return (unsigned char)j->buf[j->at];
	c = look(j);

	/* a mark that says what is UTF-8, at the beginning of a file */
	if (!j->begun && c == 0xef) {
		take(j);
		if (take(j) != 0xbb || take(j) != 0xbf)
			assay_json_fail(j, "not JSON");
		c = look(j);
	}
	j->begun = true;
	while (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
		take(j);
		c = look(j);
	}
	return j->rc ? -1 : c;
}

/* ---- tokens ---- */

static void no_memory(struct assay_json *j)
{
	if (!j->rc)
		j->rc = assay_err_set(j->err, ASSAY_ENOMEM, "cannot read '%s': out of memory", j->path);
}

static uint32_t take_hex(struct assay_json *j)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++) {
		int c = take(j), digit = c >= '0' && c <= '9'   ? c - '0'
					 : c >= 'a' && c <= 'f' ? c - 'a' + 10
					 : c >= 'A' && c <= 'F' ? c - 'A' + 10
								: -1;

		if (digit < 0) {
			assay_json_fail(j, "bad \\u in a text: expected four hex digits");
			return '?';
		}
		v = v << 4 | (uint32_t)digit;
	}
	return v;
}

/* Behind \u; two halves of a pair become one character. */
static void add_unicode(struct assay_json *j)
{
	uint32_t c = take_hex(j), low;

	if (c >= 0xd800 && c < 0xdc00 && look(j) == '\\') {
		take(j);
		if (take(j) != 'u') {
			assay_json_fail(j, "bad \\u in a text: half of a pair stands alone");
			return;
		}
		low = take_hex(j);
		c = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00)
						  : ASSAY_CODE_POINT_BAD;
	}
	if (!c)
		c = '?';
	assay_code_point_add(&j->token, c >= 0xd800 && c < 0xe000 ? ASSAY_CODE_POINT_BAD : c);
}

static void add_escape(struct assay_json *j)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	int c = take(j);
	const char *p = c > 0 ? strchr(from, c) : NULL;

	if (c == 'u')
		add_unicode(j);
	else if (p)
		assay_text_addn(&j->token, &to[p - from], 1);
	else
		assay_json_fail(j, c < 0 ? "the file ends within a text" : "bad '\\%c' in a text", c);
}

/* As much of the text as lies in the buffer, without what is special in it. */
static void add_plain(struct assay_json *j)
{
	const char *p = j->buf + j->at, *end = j->buf + j->len, *q = p;

	while (q < end && *q != '"' && *q != '\\' && (unsigned char)*q >= ' ')
		q++;
	assay_text_addn(&j->token, p, (size_t)(q - p));
	j->at += (size_t)(q - p);
}

/* The text that comes next into the token. */
static void read_text(struct assay_json *j)
{
	int c;

	if (look_on(j) != '"') {
		assay_json_fail(j, "expected a text");
		return;
	}
	take(j);
	j->token.len = 0;
	assay_text_add(&j->token, "");
	while (!j->rc && (c = look(j)) != '"') {
		if (c < 0) {
			assay_json_fail(j, "the file ends within a text");
		} else if (c == '\\') {
			take(j);
			add_escape(j);
		} else if (c < ' ') {
			assay_json_fail(j, "a line ends, or a control character stands, within a text");
		} else {
			add_plain(j);
		}
		if (j->token.len > ASSAY_JSON_TEXT_MAX)
			assay_json_fail(j, "a text is longer than %d bytes", ASSAY_JSON_TEXT_MAX);
	}
	take(j);
	if (j->token.failed)
		no_memory(j);
}

static bool is_of_word(int c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '+' || c == '-' || c == '.';
}

/* Letters, digits, signs and dots: a number or a word. False where there is none, or it is too long for either. */
static bool read_word(struct assay_json *j, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	if (look_on(j) < 0)
		return false;
	while (j->at < j->len && n + 1 < size && is_of_word((unsigned char)j->buf[j->at]))
		buf[n++] = j->buf[j->at++];
	/* it may go on in what is read next */
	for (int c = look(j); is_of_word(c); c = look(j)) {
		if (n + 1 == size)
			return false;
		buf[n++] = (char)take(j);
	}
	buf[n] = '\0';
	return n > 0;
}

/* ---- values ---- */

enum assay_json_kind assay_json_peek(struct assay_json *j)
{
	int c = look_on(j);

	switch (c) {
	case -1:
		return ASSAY_JSON_END;
	case '{':
		return ASSAY_JSON_OBJECT;
	case '[':
		return ASSAY_JSON_ARRAY;
	case '"':
		return ASSAY_JSON_TEXT;
	case 't':
	case 'f':
		return ASSAY_JSON_BOOL;
	case 'n':
		/* null and nan begin alike */
		return look_second(j) == 'a' ? ASSAY_JSON_NUMBER : ASSAY_JSON_NULL;
	default:
		return ASSAY_JSON_NUMBER;
	}
}

static const char *kind_name(enum assay_json_kind kind)
{
	static const char *const names[] = { "the end",  "an object",     "an array", "a text",
					     "a number", "true or false", "null" };

	return names[kind];
}

static bool expect(struct assay_json *j, enum assay_json_kind want)
{
	enum assay_json_kind kind = assay_json_peek(j);

	if (!j->rc && kind != want)
		assay_json_fail(j, kind == ASSAY_JSON_END ? "the file ends, expected %s" : "expected %s",
				kind_name(want));
	return !j->rc;
}

void assay_json_enter(struct assay_json *j, enum assay_json_kind kind)
{
	if (!expect(j, kind))
		return;
	if (j->depth == ASSAY_JSON_DEPTH_MAX) {
		assay_json_fail(j, "more than %d lists within each other", ASSAY_JSON_DEPTH_MAX);
		return;
	}
	take(j);
	j->levels[j->depth].object = kind == ASSAY_JSON_OBJECT;
	j->levels[j->depth].n = 0;
	j->levels[j->depth].name[0] = '\0';
	j->depth++;
}

static void read_name(struct assay_json *j, struct assay_json_level *l)
{
	size_t n;

	read_text(j);
	if (j->rc)
		return;
	n = j->token.len;
	if (n >= sizeof(l->name)) {
		assay_json_fail(j, "the name of a member is longer than %zu bytes", sizeof(l->name) - 1);
		return;
	}
	memcpy(l->name, j->token.s, n);
	l->name[n] = '\0';
	if (look_on(j) == ':')
		take(j);
	else
		assay_json_fail(j, "expected ':' behind the name of a member");
}

bool assay_json_next(struct assay_json *j)
{
	struct assay_json_level *l;
	int c;

	if (j->rc || !j->depth)
		return false;
	l = &j->levels[j->depth - 1];
	c = look_on(j);
	if (c == (l->object ? '}' : ']')) {
		take(j);
		j->depth--;
		return false;
	}
	if (l->n && c != ',') {
		assay_json_fail(j, c < 0 ? "the file ends within %s" : "expected ',' or the end of %s",
				l->object ? "an object" : "an array");
		return false;
	}
	if (l->n)
		take(j);
	l->n++;
	if (l->object)
		read_name(j, l);
	else if (look_on(j) < 0)
		assay_json_fail(j, "the file ends within an array");
	return !j->rc;
}

const char *assay_json_name(const struct assay_json *j)
{
	return j->depth ? j->levels[j->depth - 1].name : "";
}

bool assay_json_is(const struct assay_json *j, const char *name)
{
	return !strcmp(assay_json_name(j), name);
}

const char *assay_json_take_text(struct assay_json *j)
{
	if (expect(j, ASSAY_JSON_TEXT))
		read_text(j);
	return j->rc ? "" : j->token.s;
}

/* strtod() takes more than JSON has: hex, and a NaN with letters behind it. */
static bool is_number(const char *s)
{
	static const char *const words[] = { "nan", "inf", "infinity" };
	const char *t = s + (*s == '-');

	if (*t >= '0' && *t <= '9')
		return !t[strspn(t, "0123456789.eE+-")];
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(t, words[i]))
			return true;
	return false;
}

/*
 * "25.5", exactly: 15 digits are a whole double, as is each power of ten up to 22, and their quotient is rounded once
 * (Clinger 1990). NaN: it is something else, which takes strtod().
 */
static double plain_number(const char *s)
{
	static const double powers[] = { 1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	uint64_t whole = 0;
	unsigned digits = 0, behind = 0;
	bool point = false;

	for (; *s; s++) {
		if (*s == '.' && !point && digits) {
			point = true;
			continue;
		}
		if (*s < '0' || *s > '9' || ++digits > 15)
			return NAN;
		whole = 10 * whole + (unsigned)(*s - '0');
		behind += point;
	}
	return digits && (!point || behind) ? (double)whole / powers[behind] : NAN;
}

double assay_json_take_number(struct assay_json *j)
{
	char word[512], *end;
	double v;

	if (!expect(j, ASSAY_JSON_NUMBER))
		return NAN;
	if (!read_word(j, word, sizeof(word))) {
		assay_json_fail(j, "expected a value");
		return NAN;
	}
	v = plain_number(word);
	if (!isnan(v))
		return v;
	if (!is_number(word)) {
		assay_json_fail(j, "expected a value");
		return NAN;
	}
	v = strtod(word, &end);
	if (*end) {
		assay_json_fail(j, "bad number '%.40s'", word);
		return NAN;
	}
	return v;
}

static bool read_constant(struct assay_json *j, const char *want)
{
	char word[8];

	if (!read_word(j, word, sizeof(word)) || strcmp(word, want)) {
		assay_json_fail(j, "expected a value");
		return false;
	}
	return true;
}

double assay_json_take_count(struct assay_json *j)
{
	const double n = assay_json_take_number(j);

	if (isfinite(n) && n != floor(n))
		assay_json_fail(j, "%.12g is no whole number", n);
	return n;
}

bool assay_json_take_bool(struct assay_json *j)
{
	bool yes;

	if (!expect(j, ASSAY_JSON_BOOL))
		return false;
	yes = look(j) == 't';
	return read_constant(j, yes ? "true" : "false") && yes;
}

void assay_json_skip(struct assay_json *j)
{
	const unsigned depth = j->depth;

	do {
		enum assay_json_kind kind = assay_json_peek(j);

		switch (kind) {
		case ASSAY_JSON_OBJECT:
		case ASSAY_JSON_ARRAY:
			assay_json_enter(j, kind);
			break;
		case ASSAY_JSON_TEXT:
			assay_json_take_text(j);
			break;
		case ASSAY_JSON_BOOL:
			assay_json_take_bool(j);
			break;
		case ASSAY_JSON_NULL:
			read_constant(j, "null");
			break;
		case ASSAY_JSON_NUMBER:
			assay_json_take_number(j);
			break;
		case ASSAY_JSON_END:
			assay_json_fail(j, "the file ends, expected a value");
			break;
		}
		while (j->depth > depth && !j->rc && !assay_json_next(j))
			;
	} while (j->depth > depth && !j->rc);
}

bool assay_json_next_line(struct assay_json *j, struct assay_text *line)
{
	int c;

	if (!j->begun && look(j) == 0xef && (take(j) != 0xef || take(j) != 0xbb || take(j) != 0xbf))
		assay_json_fail(j, "no text in UTF-8");
	if (j->begun)
		take(j);
	j->begun = true;
	if (j->rc || look(j) < 0)
		return false;
	line->len = 0;
	assay_text_add(line, "");
	while (!j->rc && (c = look(j)) >= 0 && c != '\n') {
		if (!c || line->len == ASSAY_JSON_TEXT_MAX)
			assay_json_fail(j,
					c ? "this line is too long" : "a byte of this line is zero: this is no text");
		assay_text_addn(line, (const char[]){ (char)take(j) }, 1);
	}
	if (line->failed)
		no_memory(j);
	return !j->rc;
}
