/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How values are distributed, such as the latency of each token: log-linear buckets, as in HdrHistogram, each power of
 * two divided into 32, so that a value is known to 3.2 % whatever its magnitude. Bounds of buckets are the same in
 * every histogram: two of them are merged by adding counts, and nothing is lost by it.
 */
#ifndef ASSAY_MODEL_HISTOGRAM_H
#define ASSAY_MODEL_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "model/metric.h"

/* Of an op, at most. */
#define ASSAY_MAX_HISTOGRAMS 8

#define ASSAY_HISTOGRAM_BITS    5  /* 32 buckets a power of two */
#define ASSAY_HISTOGRAM_POWERS  64 /* from 2^-64 to 2^64 */
#define ASSAY_HISTOGRAM_BUCKETS (1u + (2u * ASSAY_HISTOGRAM_POWERS << ASSAY_HISTOGRAM_BITS))
/* Values have to be less. */
#define ASSAY_HISTOGRAM_END 0x1p64

/* Bucket of @value, which is at least 0 and less than ASSAY_HISTOGRAM_END. What is less than 2^-64 counts as 0. */
static inline unsigned assay_histogram_bucket(double value)
{
	uint64_t bits;

	if (value < 0x1p-64)
		return 0;
	memcpy(&bits, &value, sizeof(bits));
	/* exponent and upper bits of the fraction follow each other: they are a number that grows with the value */
	return (unsigned)(bits >> (52 - ASSAY_HISTOGRAM_BITS)) -
	       ((1023u - ASSAY_HISTOGRAM_POWERS) << ASSAY_HISTOGRAM_BITS) + 1;
}

/* The least value of bucket @at; of ASSAY_HISTOGRAM_BUCKETS it is the end of the last one. */
double assay_histogram_bound(unsigned at);

struct assay_histogram_bucket {
	unsigned at;
	uint64_t n;
};

struct assay_histogram {
	char tag[ASSAY_METRIC_TAG_MAX];
	char unit[ASSAY_METRIC_UNIT_MAX]; /* SI base, as of a metric */
	int better;
	uint64_t n;                             /* values in all buckets */
	struct assay_histogram_bucket *buckets; /* malloc'ed, ascending, none of them empty */
	size_t n_buckets;
};

void assay_histogram_release(struct assay_histogram *h);
/* Release all @n of @v and the array itself; both are 0 afterwards. */
void assay_histograms_release(struct assay_histogram **v, size_t *n);
/* Count @n further values in bucket @at. 0, or ASSAY_ENOMEM and nothing changed. */
int assay_histogram_add(struct assay_histogram *h, unsigned at, uint64_t n);
/*
 * The value below which a share @q of the values lies; NaN where there are none. It is off by less than the width of
 * its bucket, within which values are taken to be spread evenly.
 */
double assay_histogram_quantile(const struct assay_histogram *h, double q);

/* The metrics that each histogram gives a result: "tpot_p99_s" and "tpot_count" of tpot_s. */
struct assay_histogram_metric {
	const char *part; /* "p99", "count" */
	double q;         /* negative: it is the number of values */
};
extern const struct assay_histogram_metric assay_histogram_metrics[];
extern const size_t assay_n_histogram_metrics;
/* @part is put before the unit at the end of @tag. ASSAY_ELIMIT where the tag becomes too long. */
int assay_histogram_tag(const char *tag, const char *part, char out[ASSAY_METRIC_TAG_MAX]);

/*
 * All of them as one text, which the store keeps; "" for none, NULL without memory. A line has a tag, a unit, what is
 * better, and the buckets that are not empty: "tpot_s\ts\t-1\t1762:5 1763:12". read() appends them to the @n of @v.
 * ASSAY_ESTORE where @text is no such text, or ASSAY_ENOMEM; what was read before stays there.
 */
char *assay_histograms_text(const struct assay_histogram *v, size_t n);
int assay_histograms_read(const char *text, struct assay_histogram **v, size_t *n);

#endif
