/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pareto.h"

#include <math.h>
#include <string.h>

const struct assay_codec *assay_pareto_same_data(const struct assay_codec *first, const struct assay_codec *end)
{
	const struct assay_codec *c = first;

	while (c < end && !strcmp(c->data, first->data))
		c++;
	return c;
}

static struct assay_codec_time total_of(const struct assay_codec *c, const struct assay_link *link)
{
	const double sent = c->compressed_bytes / link->bytes_per_s;

	return (struct assay_codec_time){ .s = c->compress.s + sent + c->decompress.s,
					  .lo = c->compress.lo + sent + c->decompress.lo,
					  .hi = c->compress.hi + sent + c->decompress.hi };
}

/* A codec without a measured decompression has no total, which is NaN and less than nothing. */
void assay_pareto_choose(const struct assay_codec *first, const struct assay_codec *end, const struct assay_link *link,
			 struct assay_link_choice *out)
{
	double nearest = INFINITY;

	*out = (struct assay_link_choice){ .plain_s = first->bytes / link->bytes_per_s };
	out->total = (struct assay_codec_time){ out->plain_s, out->plain_s, out->plain_s };
	for (const struct assay_codec *c = first; c < end; c++)
		if (total_of(c, link).s < out->total.s) {
			out->total = total_of(c, link);
			out->best = c;
		}
	for (const struct assay_codec *c = first; c < end; c++) {
		const struct assay_codec_time t = total_of(c, link);

		if (c != out->best && t.lo <= out->total.hi && t.s < nearest) {
			nearest = t.s;
			out->unclear = c;
		}
	}
}
