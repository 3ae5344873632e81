/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/show/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/user_text.h"

#define COMPRESS   "compress."
#define DECOMPRESS "decompress."

/* A solid-state disk on SATA, and memory as one core copies it: round numbers, which the report states. */
static const struct assay_link usual_links[ASSAY_LINKS_MAX] = {
	{ "memory, 10 GB/s", 10e9 },
	{ "disk, 500 MB/s", 500e6 },
	{ "network, 1 Gb/s", 125e6 },
};

int assay_link_parse(const char *text, struct assay_link *out, struct assay_err *err)
{
	static const struct {
		const char *unit;
		double bytes_per_s;
	} units[] = {
		{ "Mb/s", 1e6 / 8 }, { "Gb/s", 1e9 / 8 }, { "kB/s", 1e3 }, { "MB/s", 1e6 }, { "GB/s", 1e9 },
	};
	char *end;
	double v = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (text[0] >= '0' && text[0] <= '9' && !strcmp(end, units[i].unit) && v > 0 && v < 1e6 &&
		    strlen(text) < sizeof(out->name)) {
			snprintf(out->name, sizeof(out->name), "%s", text);
			out->bytes_per_s = v * units[i].bytes_per_s;
			return 0;
		}
	return assay_err_set(err, ASSAY_EUSAGE, "--link is '%.40s', expected a rate such as 10Gb/s or 500MB/s", text);
}

/* The shape that a codec worked on: the key from the axes on, without the level. */
static void name_it(const struct assay_case *c, struct assay_codec *out)
{
	const char *axes = strchr(strchr(c->key, '/') + 1, '/') + 1, *level = strstr(axes, ",level=");
	size_t n = level ? (size_t)(level - axes) : strcspn(axes, "/");

	snprintf(out->key, sizeof(out->key), "%s", c->key);
	snprintf(out->data, sizeof(out->data), "%.*s%s", (int)n, axes, strchr(axes, '/'));
	if (level) {
		level += strlen(",level=");
		snprintf(out->name, sizeof(out->name), "%.32s/%.32s level %.*s", c->op + strlen(COMPRESS), c->variant,
			 (int)strcspn(level, "/,"), level);
	} else {
		snprintf(out->name, sizeof(out->name), "%.32s/%.32s", c->op + strlen(COMPRESS), c->variant);
	}
}

static struct assay_codec_time time_of(const struct assay_result *r)
{
	struct assay_codec_time t = { NAN, NAN, NAN };

	if (!r)
		return t;
	t.s = r->median_ns * 1e-9;
	if (r->ci95_reached && r->rounds > 1) {
		t.lo = r->ci95_lo_ns * 1e-9;
		t.hi = r->ci95_hi_ns * 1e-9;
	}
	return t;
}

static bool usable(const struct assay_result *r)
{
	return assay_result_is_right(r) && r->n_samples && r->median_ns > 0;
}

static const struct assay_result *decompression(const struct assay_run *run, const struct assay_result *r)
{
	char key[ASSAY_KEY_MAX + sizeof(DECOMPRESS)];

	snprintf(key, sizeof(key), DECOMPRESS "%s", r->c.key + strlen(COMPRESS));
	for (size_t i = 0; i < run->n_results; i++)
		if (!strcmp(run->results[i].c.key, key) && usable(&run->results[i]))
			return &run->results[i];
	return NULL;
}

static int by_data_and_time(const void *a, const void *b)
{
	const struct assay_codec *x = a, *y = b;
	int order = strcmp(x->data, y->data);

	return order ? order : (x->compress.s > y->compress.s) - (x->compress.s < y->compress.s);
}

/* Those of the same data stand together, fastest first, so that a codec is in front if it is the smallest so far. */
static void find_fronts(struct assay_pareto *p)
{
	double least = INFINITY;

	for (size_t i = 0; i < p->n; i++) {
		struct assay_codec *c = &p->codecs[i];

		if (!i || strcmp(c->data, c[-1].data))
			least = INFINITY;
		c->front = c->compressed_bytes < least;
		least = fmin(least, c->compressed_bytes);
	}
}

int assay_pareto_make(const struct assay_run *run, const struct assay_link *link, struct assay_pareto *out,
		      struct assay_err *err)
{
	*out = (struct assay_pareto){ .run = run->id, .codecs = calloc(run->n_results + 1, sizeof(*out->codecs)) };
	if (!out->codecs)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	out->n_links = link ? 1 : ASSAY_LINKS_MAX;
	memcpy(out->links, link ? link : usual_links, out->n_links * sizeof(*link));
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];
		const struct assay_metric *bytes = assay_result_metric(r, "compressed_bytes");
		const struct assay_metric *frac = assay_result_metric(r, "compressed_frac");
		struct assay_codec *c = &out->codecs[out->n];

		if (strncmp(r->c.op, COMPRESS, strlen(COMPRESS)) || !usable(r) || !bytes || !frac || !(frac->value > 0))
			continue;
		name_it(&r->c, c);
		c->compressed_bytes = bytes->value;
		c->bytes = round(bytes->value / frac->value);
		c->compress = time_of(r);
		c->decompress = time_of(decompression(run, r));
		out->n++;
	}
	if (!out->n)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "run %" PRId64 " has no codecs: 'assay run --suite codecs' measures them",
				     run->id);
	qsort(out->codecs, out->n, sizeof(*out->codecs), by_data_and_time);
	find_fronts(out);
	return 0;
}
