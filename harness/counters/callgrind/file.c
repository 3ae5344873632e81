/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what callgrind wrote, or a worker that was stepped. A file is a header and parts, one a dump; each part has
 * functions with cost lines ("position count count …", trailing zeros left out) and ends with "totals:", which must be
 * the sum of all cost lines: a part that was cut short cannot pass for a whole one. The line after "calls=" is what a
 * called function spent, which that function has already.
 */
#include "counters/callgrind/callgrind.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"

#define MAX_EVENTS 32
#define MAX_NAMES  65536
/* How callgrind calls code of a procedure linkage table. */
#define PLT "[PLT]"
/* The column of branches taken. */
#define TAKEN (-2)

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

/* ---- detail ---- */

/* All that a file says beyond functions, see model/exact.h. All-zero is empty. */
struct detail {
	struct assay_exact_line *lines; /* malloc'ed, in the order of the file */
	size_t n_lines;
	struct assay_exact_mix *mix; /* malloc'ed */
	size_t n_mix;
	struct assay_exact_counts *threads; /* malloc'ed */
	size_t n_threads;
};

static void add(struct assay_exact_counts *sum, const struct assay_exact_counts *c)
{
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		sum->v[e] += c->v[e];
}

/* Two lines of one function, file and number are one, as are two mixes of one name. */
static int add_line(struct detail *d, const struct assay_exact_line *l)
{
	if (assay_grow(&d->lines, d->n_lines, sizeof(*d->lines)))
		return ASSAY_ENOMEM;
	d->lines[d->n_lines++] = *l;
	return 0;
}

static int add_mix(struct detail *d, const struct assay_exact_mix *m)
{
	for (size_t i = 0; i < d->n_mix; i++)
		if (!strcmp(d->mix[i].name, m->name)) {
			d->mix[i].count += m->count;
			return 0;
		}
	if (assay_grow(&d->mix, d->n_mix, sizeof(*d->mix)))
		return ASSAY_ENOMEM;
	d->mix[d->n_mix++] = *m;
	return 0;
}

static int add_thread_counts(struct detail *d, const struct assay_exact_counts *c)
{
	if (assay_grow(&d->threads, d->n_threads, sizeof(*d->threads)))
		return ASSAY_ENOMEM;
	d->threads[d->n_threads++] = *c;
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	const struct assay_exact_line *x = a, *y = b;
	int order = strcmp(x->function, y->function);

	if (!order)
		order = strcmp(x->file, y->file);
	if (!order)
		order = x->line < y->line ? -1 : x->line > y->line;
	return order;
}

/* The detail as a malloc'ed text, sorted; NULL without memory. */
static char *detail_text(struct detail *d)
{
	struct assay_text t = { 0 };
	size_t n = 0;

	/* Sorted, each line once. */
	if (d->n_lines)
		qsort(d->lines, d->n_lines, sizeof(*d->lines), compare_lines);
	for (size_t i = 0; i < d->n_lines; i++)
		if (n && !compare_lines(&d->lines[n - 1], &d->lines[i]))
			add(&d->lines[n - 1].counts, &d->lines[i].counts);
		else
			d->lines[n++] = d->lines[i];
	d->n_lines = n;
	for (size_t i = 0; i < d->n_lines; i++)
		assay_exact_detail_add_line(&t, &d->lines[i]);
	for (size_t i = 0; i < d->n_threads; i++)
		assay_exact_detail_add_thread(&t, &d->threads[i]);
	for (size_t i = 0; i < d->n_mix; i++)
		assay_exact_detail_add_mix(&t, &d->mix[i]);
	return assay_text_take(&t);
}

static void detail_release(struct detail *d)
{
	free(d->lines);
	free(d->mix);
	free(d->threads);
	*d = (struct detail){ 0 };
}

/* ---- file ---- */

/* "(3) name" gives a name a number, "(3)" stands for it from then on. */
struct names {
	char **v;
	size_t n;
};

struct reader {
	const char *wanted, *skip_object;
	struct names functions, objects, files;
	int column[MAX_EVENTS]; /* enum assay_exact_event of a cost column, -1 none, TAKEN */
	unsigned n_columns;
	bool in_wanted, seen, complete;
	bool is_thread; /* the part is of one thread */
	struct assay_exact_function now;
	char object_path[4096];
	char file[ASSAY_NAME_MAX]; /* of the source, where the last cost line was */
	unsigned long number;      /* line in it */
	uint64_t taken;            /* of all cost lines of the part */
	struct detail detail;
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
		if (len == strlen(ASSAY_CALLGRIND_TAKEN) && !strncmp(s, ASSAY_CALLGRIND_TAKEN, len))
			r->column[r->n_columns] = TAKEN;
		for (size_t i = 0; i < N_EVENTS; i++)
			if (strlen(events[i].name) == len && !strncmp(events[i].name, s, len))
				r->column[r->n_columns] = (int)events[i].event;
		r->n_columns++;
		s += len;
	}
	return 0;
}

/* Blank separated counts; those left out at the end are 0. */
static int read_counts(const struct reader *r, const char *s, struct assay_exact_counts *out, uint64_t *taken)
{
	*out = (struct assay_exact_counts){ { 0 } };
	*taken = 0;
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
		else if (r->column[i] == TAKEN)
			*taken += v;
		s = end;
	}
	return 0;
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

static bool is_of_plt(const char *name)
{
	const size_t n = strlen(name), end = strlen(PLT);

	return n > end && !strcmp(name + n - end, PLT);
}

static int begin_function(struct reader *r, const char *s)
{
	const char *name = resolve(&r->functions, s);
	int rc = flush(r);

	if (rc)
		return rc;
	if (!name)
		return damaged(r, "a function without a name");
	/* what stands before it is an address */
	snprintf(r->now.name, sizeof(r->now.name), "%s", is_of_plt(name) ? PLT : name);
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

/* "totals:" of a thread that was stepped has what it alone knows. */
static int add_thread(struct reader *r)
{
	const struct assay_exact_mix taken = { "branches_taken", r->taken };

	if (!r->is_thread)
		return 0;
	return add_thread_counts(&r->detail, &r->sum) || (r->taken && add_mix(&r->detail, &taken))
		       ? assay_err_set(r->err, ASSAY_ENOMEM, "out of memory")
		       : 0;
}

static int end_part(struct reader *r, const char *s)
{
	struct assay_exact_counts totals;
	uint64_t taken;
	int rc = flush(r);

	if (!rc)
		rc = read_counts(r, s, &totals, &taken);
	if (rc)
		return rc;
	if (memcmp(&totals, &r->sum, sizeof(totals)) || taken != r->taken)
		return damaged(r, "the totals are not the sum of the functions");
	rc = add_thread(r);
	if (rc)
		return rc;
	r->complete = true;
	r->in_wanted = false;
	return 0;
}

static const char *after(const char *line, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(line, prefix, n) ? NULL : line + n;
}

/* "NAME COUNT" */
static int read_mix(struct reader *r, const char *s)
{
	struct assay_exact_mix m = { .count = 0 };
	const size_t len = strcspn(s, " ");

	if (!len || len >= sizeof(m.name) || !isdigit((unsigned char)s[len + !!s[len]]))
		return damaged(r, "not the name of a mix and its count");
	snprintf(m.name, sizeof(m.name), "%.*s", (int)len, s);
	assay_printable_line(m.name, sizeof(m.name));
	m.count = strtoull(s + len, NULL, 10);
	return add_mix(&r->detail, &m) ? assay_err_set(r->err, ASSAY_ENOMEM, "out of memory") : 0;
}

/* A line of the header of the file or of a part. Names keep their numbers through all parts. */
static int read_header(struct reader *r, const char *line)
{
	const char *v;

	if (after(line, "part:")) {
		r->in_wanted = r->is_thread = false;
		r->sum = r->now.counts = (struct assay_exact_counts){ { 0 } };
		r->taken = 0;
		r->number = 0;
		r->object_path[0] = r->file[0] = '\0';
	} else if (after(line, "thread:")) {
		r->is_thread = true;
	} else if (r->in_wanted && (v = after(line, ASSAY_CALLGRIND_MIX))) {
		return read_mix(r, v);
	} else if ((v = after(line, "desc: Trigger: Client Request: "))) {
		r->in_wanted = !strcmp(v, r->wanted);
		r->seen |= r->in_wanted;
	} else if ((v = after(line, "events: "))) {
		return read_columns(r, v);
	}
	return 0;
}

/* "16", or from the cost line before "+3", "-3" or "*". */
static unsigned long number_of(const struct reader *r, const char *position)
{
	const unsigned long n = strtoul(position + !isdigit((unsigned char)*position), NULL, 10);

	return *position == '+' ? r->number + n : *position == '-' ? r->number - n : *position == '*' ? r->number : n;
}

/* Positions count on from each other, also where they are of what a called function spent. */
static int read_cost(struct reader *r, const char *line, bool inclusive)
{
	struct assay_exact_line l;
	uint64_t taken;
	int rc;

	r->number = number_of(r, line);
	if (inclusive || !r->in_wanted)
		return 0;
	l = (struct assay_exact_line){ .line = (unsigned)r->number };
	rc = read_counts(r, line + strcspn(line, " "), &l.counts, &taken);
	add(&r->now.counts, &l.counts);
	add(&r->sum, &l.counts);
	r->taken += taken;
	r->pending = true;
	if (rc || !r->file[0] || !l.line || (r->skip_object && !strcmp(r->object_path, r->skip_object)))
		return rc;
	memcpy(l.file, r->file, sizeof(l.file));
	memcpy(l.function, r->now.name, sizeof(l.function));
	return add_line(&r->detail, &l) ? assay_err_set(r->err, ASSAY_ENOMEM, "out of memory") : 0;
}

static int read_line(struct reader *r, const char *line, bool *inclusive)
{
	const char *v;
	bool of_call;

	if ((v = after(line, "fn=")))
		return r->in_wanted                ? begin_function(r, v)
		       : resolve(&r->functions, v) ? 0
						   : damaged(r, "a function without a name");
	if ((v = after(line, "ob=")))
		return r->in_wanted              ? begin_object(r, v)
		       : resolve(&r->objects, v) ? 0
						 : damaged(r, "an object without a name");
	if ((v = after(line, "fl=")) || (v = after(line, "fi=")) || (v = after(line, "fe="))) {
		const char *path = resolve(&r->files, v), *slash;

		if (!path)
			return damaged(r, "a file without a name");
		slash = strrchr(path, '/');
		snprintf(r->file, sizeof(r->file), "%.*s", (int)sizeof(r->file) - 1,
			 slash                 ? slash + 1
			 : strcmp(path, "???") ? path
					       : "");
		assay_printable_line(r->file, sizeof(r->file));
		return 0;
	}
	if ((v = after(line, "cfl=")) || (v = after(line, "cfi=")))
		return resolve(&r->files, v) ? 0 : damaged(r, "a called file without a name");
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
	of_call = *inclusive;
	*inclusive = false;
	return read_cost(r, line, of_call);
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
	if (!rc && !out->detail) {
		out->detail = detail_text(&r.detail);
		rc = out->detail ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	detail_release(&r.detail);
	names_release(&r.functions);
	names_release(&r.objects);
	names_release(&r.files);
	return rc;
}
