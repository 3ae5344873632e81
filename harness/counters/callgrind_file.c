/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what callgrind wrote. A file is a header and parts, one a dump; each part has functions with cost lines
 * ("position count count …", trailing zeros left out) and ends with "totals:", which must be the sum of all cost lines:
 * a part that was cut short cannot pass for a whole one. The line after "calls=" is what a called function spent, which
 * that function has already.
 */
#include "counters/callgrind.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/code_point.h"

#define MAX_EVENTS 32
#define MAX_NAMES  65536

/* callgrind's event → where it is added up; more than one may go to the same place. */
static const struct {
	const char *name;
	enum assay_exact_event event;
} events[] = {
	{ "Ir", ASSAY_EXACT_INSTRUCTIONS },    { "Dr", ASSAY_EXACT_DATA_READS },  { "Dw", ASSAY_EXACT_DATA_WRITES },
	{ "I1mr", ASSAY_EXACT_I1_MISSES },     { "D1mr", ASSAY_EXACT_D1_MISSES }, { "D1mw", ASSAY_EXACT_D1_MISSES },
	{ "ILmr", ASSAY_EXACT_LL_MISSES },     { "DLmr", ASSAY_EXACT_LL_MISSES }, { "DLmw", ASSAY_EXACT_LL_MISSES },
	{ "Bc", ASSAY_EXACT_BRANCHES },        { "Bi", ASSAY_EXACT_BRANCHES },    { "Bcm", ASSAY_EXACT_MISPREDICTIONS },
	{ "Bim", ASSAY_EXACT_MISPREDICTIONS },
};
#define N_EVENTS (sizeof(events) / sizeof(events[0]))

/* "(3) name" gives a name a number, "(3)" stands for it from then on. */
struct names {
	char **v;
	size_t n;
};

struct reader {
	const char *wanted, *skip_object;
	struct names functions, objects;
	int column[MAX_EVENTS]; /* enum assay_exact_event of a cost column, -1 none */
	unsigned n_columns;
	bool in_wanted, seen, complete;
	struct assay_exact_function now;
	char object_path[4096];
	bool pending;                  /* `now` has costs */
	struct assay_exact_counts sum; /* of all cost lines of the part, also of what is skipped */
	struct assay_exact_case *out;
	struct assay_err *err;
	unsigned line;
};

static int damaged(const struct reader *r, const char *what)
{
	return assay_err_set(r->err, ASSAY_EIO, "line %u of callgrind's file: %s", r->line, what);
}

static void names_release(struct names *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
}

/* The name that @s stands for; valid until the next call. NULL when there is none, or no memory. */
static const char *resolve(struct names *l, const char *s)
{
	char *end;
	unsigned long id;

	if (*s != '(' || !isdigit((unsigned char)s[1]))
		return s;
	id = strtoul(s + 1, &end, 10);
	if (*end != ')' || id >= MAX_NAMES)
		return NULL;
	end++;
	if (!*end)
		return id < l->n ? l->v[id] : NULL;
	if (id >= l->n) {
		char **v = realloc(l->v, (id + 1) * sizeof(*v));

		if (!v)
			return NULL;
		l->v = v;
		memset(v + l->n, 0, (id + 1 - l->n) * sizeof(*v));
		l->n = id + 1;
	}
	free(l->v[id]);
	l->v[id] = strdup(end + strspn(end, " "));
	return l->v[id];
}

static int read_columns(struct reader *r, const char *s)
{
	r->n_columns = 0;
	while (*s) {
		size_t len;

		s += strspn(s, " ");
		len = strcspn(s, " ");
		if (!len)
			break;
		if (r->n_columns == MAX_EVENTS)
			return damaged(r, "more events than are known");
		r->column[r->n_columns] = -1;
		for (size_t i = 0; i < N_EVENTS; i++)
			if (strlen(events[i].name) == len && !strncmp(events[i].name, s, len))
				r->column[r->n_columns] = (int)events[i].event;
		r->n_columns++;
		s += len;
	}
	return 0;
}

/* Blank separated counts; those left out at the end are 0. */
static int read_counts(const struct reader *r, const char *s, struct assay_exact_counts *out)
{
	*out = (struct assay_exact_counts){ { 0 } };
	for (unsigned i = 0; *s; i++) {
		unsigned long long v;
		char *end;

		s += strspn(s, " ");
		if (!*s)
			break;
		v = strtoull(s, &end, 10);
		if (end == s || !isdigit((unsigned char)*s) || (*end && *end != ' ') || i >= r->n_columns)
			return damaged(r, "not a list of counts");
		if (r->column[i] >= 0)
			out->v[r->column[i]] += v;
		s = end;
	}
	return 0;
}

static void add(struct assay_exact_counts *sum, const struct assay_exact_counts *c)
{
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		sum->v[e] += c->v[e];
}

/* Hand over the function that was being read. */
static int flush(struct reader *r)
{
	const char *slash = strrchr(r->object_path, '/');
	bool skip = r->skip_object && !strcmp(r->object_path, r->skip_object);

	if (!r->pending)
		return 0;
	r->pending = false;
	/* "???" is code outside a file's section .text, as in plugins that keep a section a function */
	snprintf(r->now.object, sizeof(r->now.object), "%.63s",
		 slash                           ? slash + 1
		 : strcmp(r->object_path, "???") ? r->object_path
						 : "");
	if (!skip && assay_exact_add_function(r->out, &r->now))
		return assay_err_set(r->err, ASSAY_ENOMEM, "out of memory");
	r->now.counts = (struct assay_exact_counts){ { 0 } };
	return 0;
}

static int begin_function(struct reader *r, const char *s)
{
	const char *name = resolve(&r->functions, s);
	int rc = flush(r);

	if (rc)
		return rc;
	if (!name)
		return damaged(r, "a function without a name");
	snprintf(r->now.name, sizeof(r->now.name), "%s", name);
	assay_printable_line(r->now.name, sizeof(r->now.name)); /* a symbol of a plugin may be anything */
	return 0;
}

static int begin_object(struct reader *r, const char *s)
{
	const char *name = resolve(&r->objects, s);
	int rc = flush(r);

	if (rc)
		return rc;
	if (!name)
		return damaged(r, "an object without a name");
	snprintf(r->object_path, sizeof(r->object_path), "%s", name);
	return 0;
}

static int end_part(struct reader *r, const char *s)
{
	struct assay_exact_counts totals;
	int rc = flush(r);

	if (!rc)
		rc = read_counts(r, s, &totals);
	if (rc)
		return rc;
	if (memcmp(&totals, &r->sum, sizeof(totals)))
		return damaged(r, "the totals are not the sum of the functions");
	r->complete = true;
	r->in_wanted = false;
	return 0;
}

static const char *after(const char *line, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(line, prefix, n) ? NULL : line + n;
}

/* A line of the header of the file or of a part. Names keep their numbers through all parts. */
static int read_header(struct reader *r, const char *line)
{
	const char *v;

	if (after(line, "part:")) {
		r->in_wanted = false;
		r->sum = r->now.counts = (struct assay_exact_counts){ { 0 } };
		r->object_path[0] = '\0';
	} else if ((v = after(line, "desc: Trigger: Client Request: "))) {
		r->in_wanted = !strcmp(v, r->wanted);
		r->seen |= r->in_wanted;
	} else if ((v = after(line, "events: "))) {
		return read_columns(r, v);
	}
	return 0;
}

static int read_line(struct reader *r, const char *line, bool *inclusive)
{
	struct assay_exact_counts c;
	const char *v;
	int rc;

	if ((v = after(line, "fn=")))
		return r->in_wanted                ? begin_function(r, v)
		       : resolve(&r->functions, v) ? 0
						   : damaged(r, "a function without a name");
	if ((v = after(line, "ob=")))
		return r->in_wanted              ? begin_object(r, v)
		       : resolve(&r->objects, v) ? 0
						 : damaged(r, "an object without a name");
	if ((v = after(line, "cfn=")))
		return resolve(&r->functions, v) ? 0 : damaged(r, "a called function without a name");
	if ((v = after(line, "cob=")))
		return resolve(&r->objects, v) ? 0 : damaged(r, "a called object without a name");
	if (after(line, "calls=")) {
		*inclusive = true;
		return 0;
	}
	if ((v = after(line, "totals:")))
		return r->in_wanted ? end_part(r, v) : 0;
	if (!isdigit((unsigned char)*line) && !strchr("+-*", *line))
		return read_header(r, line);
	if (*inclusive || !r->in_wanted) {
		*inclusive = false;
		return 0;
	}
	rc = read_counts(r, line + strcspn(line, " "), &c);
	add(&r->now.counts, &c);
	add(&r->sum, &c);
	r->pending = true;
	return rc;
}

int assay_callgrind_parse(const char *text, const char *name, const char *skip_object, struct assay_exact_case *out,
			  struct assay_err *err)
{
	struct reader r = { .wanted = name, .skip_object = skip_object, .out = out, .err = err };
	bool inclusive = false;
	int rc = 0;

	while (!rc && *text) {
		size_t len = strcspn(text, "\n");
		char *line = strndup(text, len);

		r.line++;
		if (!line) {
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
			break;
		}
		if (*line)
			rc = read_line(&r, line, &inclusive);
		free(line);
		text += len + (text[len] == '\n');
	}
	if (!rc && !r.seen)
		rc = assay_err_set(err, ASSAY_EIO, "callgrind's file has no dump '%s'", name);
	else if (!rc && !r.complete)
		rc = assay_err_set(err, ASSAY_EIO, "callgrind's file is cut short in line %u, inside dump '%s'", r.line,
				   name);
	names_release(&r.functions);
	names_release(&r.objects);
	return rc;
}
