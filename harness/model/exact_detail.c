/* SPDX-License-Identifier: Apache-2.0 */
/* Entries: "line FILE NUMBER FUNCTION COUNTS", "thread COUNTS", "mix NAME COUNT", with tabs between members. */
#include "model/exact.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static void add_counts(struct assay_text *t, const struct assay_exact_counts *c)
{
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		assay_text_addf(t, "%s%" PRIu64, e ? " " : "", c->v[e]);
	assay_text_add(t, "\n");
}

void assay_exact_detail_add_line(struct assay_text *t, const struct assay_exact_line *l)
{
	assay_text_addf(t, "line\t%s\t%u\t%s\t", l->file, l->line, l->function);
	add_counts(t, &l->counts);
}

void assay_exact_detail_add_thread(struct assay_text *t, const struct assay_exact_counts *c)
{
	assay_text_add(t, "thread\t");
	add_counts(t, c);
}

void assay_exact_detail_add_mix(struct assay_text *t, const struct assay_exact_mix *m)
{
	assay_text_addf(t, "mix\t%s\t%" PRIu64 "\n", m->name, m->count);
}

/* ---- out -------------------------------------------------------------------------------------------------------- */

/* From *at up to the next entry that begins with @kind, which goes into @entry without it. */
static bool find(const char **at, const char *kind, char *entry, size_t size)
{
	const size_t n = strlen(kind);

	while (*at && **at) {
		const char *begin = *at;
		const size_t len = strcspn(begin, "\n");

		*at = begin + len + (begin[len] == '\n');
		if (len <= n || strncmp(begin, kind, n) || begin[n] != '\t' || len - n >= size)
			continue;
		snprintf(entry, size, "%.*s", (int)(len - n - 1), begin + n + 1);
		return true;
	}
	return false;
}

/* The member at *p, cut off where the next begins. */
static char *member(char **p)
{
	char *m = *p, *tab = m ? strchr(m, '\t') : NULL;

	if (tab)
		*tab = '\0';
	*p = tab ? tab + 1 : NULL;
	return m;
}

static bool read_counts(const char *s, struct assay_exact_counts *out)
{
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++) {
		char *end;

		out->v[e] = s ? strtoull(s, &end, 10) : 0;
		if (!s || end == s)
			return false;
		s = end;
	}
	return true;
}

bool assay_exact_next_line(const char **at, struct assay_exact_line *out)
{
	char entry[1024];

	while (find(at, "line", entry, sizeof(entry))) {
		char *p = entry;
		const char *file = member(&p), *line = member(&p), *function = member(&p);

		*out = (struct assay_exact_line){ .line = line ? (unsigned)strtoul(line, NULL, 10) : 0 };
		snprintf(out->file, sizeof(out->file), "%.*s", (int)sizeof(out->file) - 1, file);
		snprintf(out->function, sizeof(out->function), "%.*s", (int)sizeof(out->function) - 1,
			 function ? function : "");
		if (read_counts(p, &out->counts))
			return true;
	}
	return false;
}

bool assay_exact_next_thread(const char **at, struct assay_exact_counts *out)
{
	char entry[512];

	while (find(at, "thread", entry, sizeof(entry)))
		if (read_counts(entry, out))
			return true;
	return false;
}

bool assay_exact_next_mix(const char **at, struct assay_exact_mix *out)
{
	char entry[512];

	while (find(at, "mix", entry, sizeof(entry))) {
		char *p = entry;
		const char *name = member(&p);

		snprintf(out->name, sizeof(out->name), "%.*s", (int)sizeof(out->name) - 1, name);
		out->count = p ? strtoull(p, NULL, 10) : 0;
		if (p)
			return true;
	}
	return false;
}

/* ---- lines that changed ----------------------------------------------------------------------------------------- */

#define MATTERS 2000

bool assay_exact_line_matters(const struct assay_exact_line *l, const struct assay_exact_counts *total)
{
	static const enum assay_exact_event events[] = { ASSAY_EXACT_INSTRUCTIONS, ASSAY_EXACT_DATA_READS,
							 ASSAY_EXACT_DATA_WRITES, ASSAY_EXACT_D1_MISSES };

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (l->counts.v[events[i]] && l->counts.v[events[i]] * MATTERS >= total->v[events[i]])
			return true;
	return false;
}

struct lines {
	struct assay_exact_line *v; /* malloc'ed */
	size_t n;
};

/* Those of @function that matter, in their order. */
static bool take_lines(const struct assay_exact_case *c, const char *function, struct lines *out)
{
	struct assay_exact_line l;

	for (const char *at = c->detail; assay_exact_next_line(&at, &l);) {
		if (strcmp(l.function, function) || !assay_exact_line_matters(&l, &c->total))
			continue;
		if (assay_grow(&out->v, out->n, sizeof(*out->v)))
			return false;
		out->v[out->n++] = l;
	}
	return out->n > 0;
}

static bool is_same_line(const struct assay_exact_line *a, const struct assay_exact_line *b)
{
	return !strcmp(a->file, b->file) && !memcmp(&a->counts, &b->counts, sizeof(a->counts));
}

static uint64_t of_same_number(const struct lines *base, size_t from, size_t to, const struct assay_exact_line *l,
			       enum assay_exact_event event)
{
	for (size_t i = from; i < to; i++)
		if (base->v[i].line == l->line && !strcmp(base->v[i].file, l->file))
			return base->v[i].counts.v[event];
	return 0;
}

/* Between lines that are equal from the beginning and from the end. */
static bool find_changed(const struct lines *b, const struct lines *h, enum assay_exact_event event, bool more,
			 struct assay_exact_line *out)
{
	const struct lines *in = more ? h : b, *other = more ? b : h;
	size_t first = 0, last = 0;
	uint64_t most = 0;

	while (first < b->n && first < h->n && is_same_line(&b->v[first], &h->v[first]))
		first++;
	while (last < b->n - first && last < h->n - first &&
	       is_same_line(&b->v[b->n - 1 - last], &h->v[h->n - 1 - last]))
		last++;
	for (size_t i = first; i < in->n - last; i++) {
		const uint64_t now = in->v[i].counts.v[event],
			       was = of_same_number(other, first, other->n - last, &in->v[i], event);

		if (now <= was || now - was <= most)
			continue;
		most = now - was;
		*out = in->v[i];
	}
	return most > 0;
}

static uint64_t sum_of(const struct lines *l, enum assay_exact_event event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->n; i++)
		sum += l->v[i].counts.v[event];
	return sum;
}

bool assay_exact_changed_line(const struct assay_exact_case *base, const struct assay_exact_case *head,
			      const char *function, enum assay_exact_event event, struct assay_exact_line *out)
{
	struct lines b = { 0 }, h = { 0 };
	bool found = take_lines(base, function, &b);

	/* a function may be new, or gone */
	found |= take_lines(head, function, &h);
	found = found && base->detail && base->detail[0] && head->detail && head->detail[0] &&
		find_changed(&b, &h, event, sum_of(&h, event) >= sum_of(&b, event), out);
	free(b.v);
	free(h.v);
	return found;
}

static double imbalance(const struct assay_exact_case *c)
{
	const char *at = c->detail;
	struct assay_exact_counts t;
	double most = 0, sum = 0;
	unsigned n = 0;

	for (; assay_exact_next_thread(&at, &t); n++) {
		most = fmax(most, (double)t.v[ASSAY_EXACT_INSTRUCTIONS]);
		sum += (double)t.v[ASSAY_EXACT_INSTRUCTIONS];
	}
	return n > 1 && sum > 0 ? most / (sum / n) : NAN;
}

double assay_exact_case_metric(const struct assay_exact_case *c, const char *tag)
{
	return strcmp(tag, ASSAY_EXACT_IMBALANCE) ? assay_exact_metric(&c->total, tag) : imbalance(c);
}
