/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/callgrind/callgrind.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static void add_counts(struct assay_exact_counts *sum, const struct assay_exact_counts *c)
{
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		sum->v[e] += c->v[e];
}

int assay_callgrind_detail_line(struct assay_callgrind_detail *d, const struct assay_exact_line *l)
{
	if (assay_grow(&d->lines, d->n_lines, sizeof(*d->lines)))
		return ASSAY_ENOMEM;
	d->lines[d->n_lines++] = *l;
	return 0;
}

int assay_callgrind_detail_mix(struct assay_callgrind_detail *d, const struct assay_exact_mix *m)
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

int assay_callgrind_detail_thread(struct assay_callgrind_detail *d, const struct assay_exact_counts *c)
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

/* Sorted, each line once. */
static void join_lines(struct assay_callgrind_detail *d)
{
	size_t n = 0;

	if (d->n_lines)
		qsort(d->lines, d->n_lines, sizeof(*d->lines), compare_lines);
	for (size_t i = 0; i < d->n_lines; i++)
		if (n && !compare_lines(&d->lines[n - 1], &d->lines[i]))
			add_counts(&d->lines[n - 1].counts, &d->lines[i].counts);
		else
			d->lines[n++] = d->lines[i];
	d->n_lines = n;
}

char *assay_callgrind_detail_text(struct assay_callgrind_detail *d)
{
	struct assay_text t = { 0 };

	join_lines(d);
	for (size_t i = 0; i < d->n_lines; i++)
		assay_exact_detail_add_line(&t, &d->lines[i]);
	for (size_t i = 0; i < d->n_threads; i++)
		assay_exact_detail_add_thread(&t, &d->threads[i]);
	for (size_t i = 0; i < d->n_mix; i++)
		assay_exact_detail_add_mix(&t, &d->mix[i]);
	return assay_text_take(&t);
}

void assay_callgrind_detail_release(struct assay_callgrind_detail *d)
{
	free(d->lines);
	free(d->mix);
	free(d->threads);
	*d = (struct assay_callgrind_detail){ 0 };
}
