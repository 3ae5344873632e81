/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of "name, value, unit" that a script wrote: fields between commas, semicolons or tabs, as RFC 4180 quotes
 * them, or else between blanks, where the last two words are value and unit. A line is a measurement, and lines of one
 * name are those of one case. Times are its samples; a rate is a metric, and its inverse is the time of one item where
 * the name has no time; sizes, counts and shares are metrics beside these. Empty lines, lines that begin with '#', and
 * a first line whose last fields are "value" and "unit" say nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "formats/reader.h"

enum { NAME, VALUE, UNIT, FIELDS };

/* The metric that a unit belongs to, and which numbers can be meant. */
struct quantity {
	const char *tag; /* NULL: the time */
	const char *unit;
	int better;
	bool counted; /* a whole number, or several of the unit that are one */
};

static const struct quantity time_of = { NULL, "s", -1, false };
static const struct quantity bytes_per_s = { "bytes_per_s", "B/s", 1, false };
static const struct quantity tokens_per_s = { "tokens_per_s", "1/s", 1, false };
static const struct quantity ops_per_s = { "ops_per_s", "1/s", 1, false };
static const struct quantity items_per_s = { "items_per_s", "1/s", 1, false };
static const struct quantity size = { "bytes", "B", -1, true };
static const struct quantity count = { "count", "1", 0, true };
static const struct quantity share = { "share_frac", "1", 0, false };

static const struct {
	const char *name;
	const struct quantity *of;
	double factor;
	bool scaled; /* k, M, G or T may precede it */
} units[] = {
	{ "ns", &time_of, 1e-9, false },
	{ "us", &time_of, 1e-6, false },
	{ "\xc2\xb5s", &time_of, 1e-6, false },
	{ "\xce\xbcs", &time_of, 1e-6, false },
	{ "ms", &time_of, 1e-3, false },
	{ "s", &time_of, 1, false },
	{ "min", &time_of, 60, false },
	{ "B/s", &bytes_per_s, 1, true },
	{ "KiB/s", &bytes_per_s, 0x1p10, false },
	{ "MiB/s", &bytes_per_s, 0x1p20, false },
	{ "GiB/s", &bytes_per_s, 0x1p30, false },
	{ "TiB/s", &bytes_per_s, 0x1p40, false },
	{ "tok/s", &tokens_per_s, 1, true },
	{ "tokens/s", &tokens_per_s, 1, true },
	{ "op/s", &ops_per_s, 1, true },
	{ "ops/s", &ops_per_s, 1, true },
	{ "items/s", &items_per_s, 1, true },
	{ "1/s", &items_per_s, 1, false },
	{ "B", &size, 1, true },
	{ "KiB", &size, 0x1p10, false },
	{ "MiB", &size, 0x1p20, false },
	{ "GiB", &size, 0x1p30, false },
	{ "TiB", &size, 0x1p40, false },
	{ "1", &count, 1, false },
	{ "count", &count, 1, false },
	{ "%", &share, 0.01, false },
	{ "percent", &share, 0.01, false },
};

struct row {
	char name[4096];
	const struct quantity *of;
	double value; /* in its base unit */
};

struct named {
	struct assay_result r;
	const struct quantity *sampled; /* what its samples are of; NULL: it has none */
	char name[160];                 /* for messages */
};

struct table {
	struct named *v; /* malloc'ed */
	size_t n;
	struct assay_name_index index;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void trim(char **s)
{
	char *end;

	while (is_blank(**s))
		++*s;
	end = *s + strlen(*s);
	while (end > *s && is_blank(end[-1]))
		*--end = '\0';
}

/* Cut the field off *@line, up to @separator. False where a quote has no end. */
static bool next_field(char **line, char separator, char **field)
{
	char *from, *to;

	while (**line == ' ')
		++*line;
	*field = from = to = *line;
	if (*from == '"') {
		for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
			from += *from == '"';
			*to++ = *from;
		}
		if (!*from)
			return false;
		from += 1 + strspn(from + 1, " \r");
		if (*from && *from != separator)
			return false;
	} else {
		to = from = from + strcspn(from, (char[]){ separator, '\0' });
	}
	*line = *from ? from + 1 : NULL;
	*to = '\0';
	trim(field);
	return true;
}

/* Cut the last word off @line. */
static char *last_word(char *line)
{
	char *at = line + strlen(line);

	while (at > line && !is_blank(at[-1]))
		at--;
	if (at > line)
		at[-1] = '\0';
	return at;
}

/* The number of fields; 0: a quote has no end. */
static size_t split(char *line, char *fields[FIELDS])
{
	const char separator = strchr(line, ',') ? ',' : strchr(line, ';') ? ';' : '\t';
	size_t n = 0;
	char *field;

	/* one tab alone is a blank */
	if (!strchr(line, separator) || (separator == '\t' && strchr(line, '\t') == strrchr(line, '\t'))) {
		fields[UNIT] = last_word(line);
		trim(&line);
		fields[VALUE] = fields[UNIT] > line ? last_word(line) : line;
		fields[NAME] = line;
		trim(&fields[NAME]);
		return fields[VALUE] > line ? FIELDS : 1;
	}
	for (; line; n++) {
		if (!next_field(&line, separator, &field))
			return 0;
		if (n < FIELDS)
			fields[n] = field;
	}
	return n;
}

static bool is_heading(char *const fields[FIELDS])
{
	return !strcasecmp(fields[VALUE], "value") && !strcasecmp(fields[UNIT], "unit");
}

/* "GB/s", "k tok/s" or "ms": @factor of the base unit of @of. */
static bool read_unit(const char *text, const struct quantity **of, double *factor)
{
	static const char prefixes[] = "kKMGT";
	static const double thousands[] = { 1e3, 1e3, 1e6, 1e9, 1e12 };
	const char *prefix = *text ? strchr(prefixes, *text) : NULL;
	const char *rest = prefix ? text + 1 + strspn(text + 1, " ") : text;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		*of = units[i].of;
		*factor = units[i].factor;
		if (!strcmp(units[i].name, text))
			return true;
		if (!prefix || !units[i].scaled || strcmp(units[i].name, rest) != 0)
			continue;
		*factor *= thousands[prefix - prefixes];
		return true;
	}
	return false;
}

/* Can it be measured so? Times and rates are above 0, sizes and counts are whole. */
static bool is_possible(struct assay_reading *in, const struct row *r, const char *value)
{
	if (!r->of->tag || r->of->better > 0) {
		if (r->value > 0 && isfinite(r->value))
			return true;
		assay_reading_fail(in, "the value is '%.40s', expected a number above 0", value);
	} else if (r->of->counted) {
		if (r->value >= 0 && r->value < 0x1p53 && r->value == floor(r->value))
			return true;
		assay_reading_fail(in, "the value is '%.40s', expected a whole number of %s", value,
				   r->of == &size ? "bytes" : "what is counted");
	} else {
		return true;
	}
	return false;
}

/* Parse @line, which is cut up in place, into @out. False if it is empty or malformed; the latter is reported. */
static bool read_row(struct assay_reading *in, char *line, struct row *out)
{
	char *fields[FIELDS] = { NULL }, *end;
	double value, factor;
	size_t n;

	trim(&line);
	if (!*line || *line == '#')
		return false;
	n = split(line, fields);
	if (!n)
		assay_reading_fail(in, "a quote is not closed, or something follows it");
	else if (n != FIELDS)
		assay_reading_fail(in, "this line has %zu field%s, expected name, value and unit", n,
				   n == 1 ? "" : "s");
	if (n != FIELDS)
		return false;
	if (in->line == 1 && is_heading(fields))
		return false;
	if (!*fields[NAME] || strlen(fields[NAME]) >= sizeof(out->name)) {
		assay_reading_fail(in, "the name has %zu bytes, expected 1 to %zu", strlen(fields[NAME]),
				   sizeof(out->name) - 1);
		return false;
	}
	value = strtod(fields[VALUE], &end);
	if (!*fields[VALUE] || *end || !isfinite(value)) {
		assay_reading_fail(in, "the value is '%.40s', expected a number", fields[VALUE]);
		return false;
	}
	if (!read_unit(fields[UNIT], &out->of, &factor)) {
		assay_reading_fail(in,
				   "the unit '%.40s' is not known, expected a time (ns, us, ms, s, min), a rate (MB/s, "
				   "GiB/s, tok/s, ops/s, items/s), bytes (B, KiB, MB), 'count' or '%%'",
				   fields[UNIT]);
		return false;
	}
	memcpy(out->name, fields[NAME], strlen(fields[NAME]) + 1);
	out->value = value * factor;
	return is_possible(in, out, fields[VALUE]);
}

/* One more sample of @c: a time, or the time of one item at a rate, of so many items that nanoseconds are exact. */
static void add_sample(struct assay_reading *in, struct named *c, const struct row *r)
{
	const uint32_t flags = c->r.n_samples ? ASSAY_SAMPLE_NEW_ROUND : 0;
	double items = 1;

	if (r->of == &time_of) {
		assay_reading_sample(in, &c->r, 1, r->value * 1e9, flags);
		return;
	}
	while (items < r->value && items < 1e15)
		items *= 10;
	assay_reading_sample(in, &c->r, items, items / r->value * 1e9, flags);
}

static void add_row(struct assay_reading *in, struct table *t, const struct row *r)
{
	const bool is_rate = r->of->better > 0;
	struct named *c;
	bool found = false;
	size_t at = 0;

	assay_reading_keep(in, assay_name_index_put(&t->index, r->name, t->n, &at, &found, in->err));
	if (!in->rc && !found && assay_grow(&t->v, t->n, sizeof(*t->v)))
		assay_reading_no_memory(in);
	if (in->rc)
		return;
	c = &t->v[at];
	if (!found) {
		*c = (struct named){ .sampled = NULL };
		assay_format_op(r->name, c->r.c.op);
		snprintf(c->r.c.variant, sizeof(c->r.c.variant), "csv");
		snprintf(c->name, sizeof(c->name), "%.150s", r->name);
		t->n++;
	}
	/* a time takes the place of what follows from rates */
	if (r->of == &time_of && c->sampled != &time_of)
		c->r.n_samples = 0;
	if (r->of == &time_of || (is_rate && !c->sampled))
		c->sampled = r->of;
	if (c->sampled == r->of)
		add_sample(in, c, r);
	if (r->of->tag)
		assay_reading_metric(in, &c->r, r->of->tag, r->of->unit, r->of->better, r->value);
}

static void read_all(struct assay_reading *in)
{
	struct table t = { 0 };
	struct assay_text line = { 0 };
	struct row r;
	size_t len;

	for (const char *at = in->text; *at && !in->rc; at += len + (at[len] == '\n')) {
		len = strcspn(at, "\n");
		line.len = 0;
		in->line++;
		assay_text_addn(&line, at, len);
		if (line.failed)
			assay_reading_no_memory(in);
		else if (read_row(in, line.s, &r))
			add_row(in, &t, &r);
	}
	assay_text_release(&line);
	if (!t.n)
		assay_reading_fail(in, "there are no benchmarks in it");
	in->line = 0;
	for (size_t i = 0; i < t.n; i++) {
		if (!t.v[i].sampled)
			assay_reading_no_time(&t.v[i].r, ASSAY_STATUS_SKIPPED,
					      "the file has neither a time nor a rate for it");
		assay_reading_put(in, &t.v[i].r, t.v[i].name);
	}
	assay_name_index_release(&t.index);
	free(t.v);
}

/* A program that measures itself may print it. */
const struct assay_format assay_format_csv = { "csv", read_all, NULL, { .place = ASSAY_FORMAT_STDOUT, .measure = "" } };
