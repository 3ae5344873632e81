/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of "name, value, unit" that a script wrote: fields between commas, semicolons or tabs, as RFC 4180 quotes
 * them, or else between blanks, where the last two words are value and unit. A line is a measurement, and lines of one
 * name are samples of one case. Empty lines, lines that begin with '#', and a first line "name,value,unit" say nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "formats/reader.h"

enum { NAME, VALUE, UNIT, FIELDS };

struct row {
	char name[4096];
	double ns;
};

struct table {
	struct assay_result *cases; /* malloc'ed */
	char (*names)[160];         /* malloc'ed; for messages */
	size_t n;
	struct assay_name_index index;
};

static const struct {
	const char *name;
	double ns;
} units[] = {
	{ "ns", 1 },   { "us", 1e3 }, { "\xc2\xb5s", 1e3 }, { "\xce\xbcs", 1e3 },
	{ "ms", 1e6 }, { "s", 1e9 },  { "min", 60 * 1e9 },
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
	return !strcasecmp(fields[NAME], "name") && !strcasecmp(fields[VALUE], "value") &&
	       !strcasecmp(fields[UNIT], "unit");
}

/* Parse @line, which is cut up in place, into @out. False if it is empty or malformed; the latter is reported. */
static bool read_row(struct assay_reading *in, char *line, struct row *out)
{
	char *fields[FIELDS] = { NULL }, *end;
	double value;
	size_t n;

	trim(&line);
	if (!*line || *line == '#')
		return false;
	n = split(line, fields);
	if (!n)
		assay_reading_fail(in, "a quote has no end, or something follows behind it");
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
	if (!*fields[VALUE] || *end || !isfinite(value) || value <= 0) {
		assay_reading_fail(in, "the value is '%.40s', expected a number above 0", fields[VALUE]);
		return false;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].name, fields[UNIT])) {
			memcpy(out->name, fields[NAME], strlen(fields[NAME]) + 1);
			out->ns = value * units[i].ns;
			return true;
		}
	assay_reading_fail(in, "the unit is '%.40s', expected a time: ns, us, ms, s or min", fields[UNIT]);
	return false;
}

static void add_row(struct assay_reading *in, struct table *t, const struct row *r)
{
	struct assay_result *c;
	bool found = false;
	size_t at = 0;

	assay_reading_keep(in, assay_name_index_put(&t->index, r->name, t->n, &at, &found, in->err));
	if (!in->rc && !found &&
	    (assay_grow(&t->cases, t->n, sizeof(*t->cases)) || assay_grow(&t->names, t->n, sizeof(*t->names))))
		assay_reading_no_memory(in);
	if (in->rc)
		return;
	c = &t->cases[at];
	if (!found) {
		*c = (struct assay_result){ 0 };
		assay_format_op(r->name, c->c.op);
		snprintf(c->c.variant, sizeof(c->c.variant), "csv");
		snprintf(t->names[at], sizeof(t->names[at]), "%.150s", r->name);
		t->n++;
	}
	assay_reading_sample(in, c, 1, r->ns, c->n_samples ? ASSAY_SAMPLE_NEW_ROUND : 0);
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
	for (size_t i = 0; i < t.n; i++)
		assay_reading_put(in, &t.cases[i], t.names[i]);
	assay_name_index_release(&t.index);
	free(t.cases);
	free(t.names);
}

/* A program that measures itself may print it. */
const struct assay_format assay_format_csv = { "csv", read_all, NULL, { .place = ASSAY_FORMAT_STDOUT, .measure = "" } };
