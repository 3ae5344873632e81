/* SPDX-License-Identifier: Apache-2.0 */
/* Codecs of a run that did the same data: which are beaten by no other, and which one a link asks for. */
#ifndef ASSAY_MODEL_PARETO_H
#define ASSAY_MODEL_PARETO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/case.h"

/* Seconds with their 95 % interval; lo and hi are NaN where there is none, and all three where nothing was measured. */
struct assay_codec_time {
	double s, lo, hi;
};

/* A measured case of compress.*, with the case of decompress.* that has its format, library, level and data. */
struct assay_codec {
	char key[ASSAY_KEY_MAX];
	char data[ASSAY_KEY_MAX]; /* "json,bytes=1048576,block=65536/t=1/warm" */
	char name[96];            /* "zstd/zstd level 3" */
	double bytes, compressed_bytes;
	struct assay_codec_time compress, decompress;
	bool front; /* none of the same data is as small and faster, or as fast and smaller */
};

struct assay_link {
	char name[32];
	double bytes_per_s;
};

#define ASSAY_LINKS_MAX 3

/*
 * Of one link and data. A total is compressing, sending and decompressing one after the other; its interval is the sum
 * of both intervals, which assumes that both are off in the same direction.
 */
struct assay_link_choice {
	const struct assay_codec *best; /* NULL: sending the data as they are takes least */
	struct assay_codec_time total;  /* of the best; of the data as they are where there is none */
	double plain_s;                 /* of the data as they are */
	/* The nearest other codec whose interval reaches that of the best; NULL: none, or an interval is missing. */
	const struct assay_codec *unclear;
};

struct assay_pareto {
	int64_t run;
	struct assay_codec *codecs; /* malloc'ed; those of the same data stand together, fastest first */
	size_t n;
	struct assay_link links[ASSAY_LINKS_MAX];
	size_t n_links;
};

/* The best of the codecs @first to @end, which are of the same data, for a link. */
void assay_pareto_choose(const struct assay_codec *first, const struct assay_codec *end, const struct assay_link *link,
			 struct assay_link_choice *out);
/* Behind the last codec that has the data of @first, of those before @end. */
const struct assay_codec *assay_pareto_same_data(const struct assay_codec *first, const struct assay_codec *end);

#endif
