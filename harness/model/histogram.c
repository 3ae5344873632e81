/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets are kept sparsely: latencies fill a few dozen of the thousands that there are. */
#include "model/histogram.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/text.h"

const struct assay_histogram_metric assay_histogram_metrics[] = {
	{ "p50", 0.5 },
	{ "p90", 0.9 },
	{ "p99", 0.99 },
	{ "count", -1 },
};
const size_t assay_n_histogram_metrics = sizeof(assay_histogram_metrics) / sizeof(assay_histogram_metrics[0]);

double assay_histogram_bound(unsigned at)
{
	const unsigned steps = 1u << ASSAY_HISTOGRAM_BITS;

	if (!at)
		return 0;
	return ldexp(1 + (double)((at - 1) % steps) / steps, (int)((at - 1) / steps) - ASSAY_HISTOGRAM_POWERS);
}

void assay_histogram_release(struct assay_histogram *h)
{
	free(h->buckets);
	*h = (struct assay_histogram){ 0 };
}

void assay_histograms_release(struct assay_histogram **v, size_t *n)
{
	for (size_t i = 0; i < *n; i++)
		assay_histogram_release(&(*v)[i]);
	free(*v);
	*v = NULL;
	*n = 0;
}

int assay_histogram_add(struct assay_histogram *h, unsigned at, uint64_t n)
{
	size_t i = h->n_buckets;

	while (i && h->buckets[i - 1].at > at)
		i--;
	if (!i || h->buckets[i - 1].at != at) {
		if (assay_grow(&h->buckets, h->n_buckets, sizeof(*h->buckets)))
			return ASSAY_ENOMEM;
		memmove(&h->buckets[i + 1], &h->buckets[i], (h->n_buckets - i) * sizeof(*h->buckets));
		h->buckets[i++] = (struct assay_histogram_bucket){ .at = at };
		h->n_buckets++;
	}
	h->buckets[i - 1].n += n;
	h->n += n;
	return 0;
}

double assay_histogram_quantile(const struct assay_histogram *h, double q)
{
	const double rank = q * (double)h->n;
	double below = 0;

	for (size_t i = 0; i < h->n_buckets; i++) {
		const struct assay_histogram_bucket *b = &h->buckets[i];
		const double lo = assay_histogram_bound(b->at), hi = b->at ? assay_histogram_bound(b->at + 1) : 0;

		if (below + (double)b->n >= rank)
			return lo + (hi - lo) * (rank - below) / (double)b->n;
		below += (double)b->n;
	}
	return NAN;
}

/* Where the name of what is measured ends, and that of its unit begins. */
static size_t before_unit(const char *tag)
{
	static const char *const units[] = { "_bytes_per_s", "_per_s", "_s", "_bytes", "_hz", "_j", "_w", "_frac" };
	const size_t len = strlen(tag);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t n = strlen(units[i]);

		if (len > n && !strcmp(tag + len - n, units[i]))
			return len - n;
	}
	return len;
}

int assay_histogram_tag(const char *tag, const char *part, char out[ASSAY_METRIC_TAG_MAX])
{
	const size_t at = before_unit(tag);
	/* a number of values has no unit */
	const char *unit = strcmp(part, "count") ? tag + at : "";
	const int n = snprintf(out, ASSAY_METRIC_TAG_MAX, "%.*s_%s%s", (int)at, tag, part, unit);

	return n >= 0 && n < ASSAY_METRIC_TAG_MAX ? 0 : ASSAY_ELIMIT;
}

char *assay_histograms_text(const struct assay_histogram *v, size_t n)
{
	struct assay_text t = { 0 };

	for (size_t i = 0; i < n; i++) {
		assay_text_addf(&t, "%s\t%s\t%d\t", v[i].tag, v[i].unit, v[i].better);
		for (size_t k = 0; k < v[i].n_buckets; k++)
			assay_text_addf(&t, "%s%u:%" PRIu64, k ? " " : "", v[i].buckets[k].at, v[i].buckets[k].n);
		assay_text_add(&t, "\n");
	}
	return assay_text_take(&t);
}

/* "1762:5 1763:12" up to the end of the line, which *@text is set behind. */
static int read_buckets(const char **text, struct assay_histogram *h)
{
	const char *p = *text;
	char *end;

	for (;;) {
		const unsigned long at = strtoul(p, &end, 10);
		uint64_t n;
		int rc;

		if (end == p || *end != ':' || at >= ASSAY_HISTOGRAM_BUCKETS)
			return ASSAY_ESTORE;
		p = end + 1;
		n = strtoull(p, &end, 10);
		if (end == p || !n || (*end != ' ' && *end != '\n'))
			return ASSAY_ESTORE;
		rc = assay_histogram_add(h, (unsigned)at, n);
		if (rc)
			return rc;
		p = end + 1;
		if (*end == '\n')
			break;
	}
	*text = p;
	return 0;
}

int assay_histograms_read(const char *text, struct assay_histogram **v, size_t *n)
{
	int rc = 0;

	while (*text && !rc) {
		struct assay_histogram h = { 0 };
		int len = 0;

		/* widths are those of the members */
		if (sscanf(text, "%47[^\t\n]\t%15[^\t\n]\t%d\t%n", h.tag, h.unit, &h.better, &len) != 3 || !len)
			return ASSAY_ESTORE;
		text += len;
		rc = read_buckets(&text, &h);
		if (!rc)
			rc = assay_grow(v, *n, sizeof(**v));
		if (rc)
			assay_histogram_release(&h);
		else
			(*v)[(*n)++] = h;
	}
	return rc;
}
