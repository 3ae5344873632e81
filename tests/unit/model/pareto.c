/* SPDX-License-Identifier: Apache-2.0 */
/* Which codec a link asks for, and when intervals do not tell two apart. */
#include "unit.h"

#include <math.h>

#include "model/pareto.h"

/* Of 100 bytes: fast and large, slow and small, and one whose decompression was not measured. */
static const struct assay_codec codecs[] = {
	{ .data = "a",
	  .name = "fast",
	  .bytes = 100,
	  .compressed_bytes = 80,
	  .compress = { 1, 0.9, 1.1 },
	  .decompress = { 1, 1, 1 } },
	{ .data = "a",
	  .name = "small",
	  .bytes = 100,
	  .compressed_bytes = 20,
	  .compress = { 10, 9, 11 },
	  .decompress = { 1, 1, 1 } },
	{ .data = "a",
	  .name = "unknown",
	  .bytes = 100,
	  .compressed_bytes = 1,
	  .compress = { 1, 1, 1 },
	  .decompress = { NAN, NAN, NAN } },
	{ .data = "b",
	  .name = "other",
	  .bytes = 100,
	  .compressed_bytes = 1,
	  .compress = { 1, 1, 1 },
	  .decompress = { 1, 1, 1 } },
};

TEST(test_choice)
{
	static const struct {
		double bytes_per_s;
		const char *best, *unclear; /* NULL: none */
		double s, lo, hi;
	} rows[] = {
		{ 100, NULL, NULL, 1, 1, 1 },
		{ 7, "fast", "small", 2 + 80 / 7., 1.9 + 80 / 7., 2.1 + 80 / 7. },
		{ 6.25, "small", "fast", 14.2, 13.2, 15.2 },
		{ 5, "small", NULL, 15, 14, 16 },
	};
	const struct assay_codec *end = assay_pareto_same_data(codecs, codecs + N_OF(codecs));

	assert_ptr_equal(end, codecs + 3);
	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_link link = { .bytes_per_s = rows[i].bytes_per_s };
		struct assay_link_choice v;

		assay_pareto_choose(codecs, end, &link, &v);
		if (rows[i].best)
			assert_string_equal(v.best->name, rows[i].best);
		else
			assert_null(v.best);
		if (rows[i].unclear)
			assert_string_equal(v.unclear->name, rows[i].unclear);
		else
			assert_null(v.unclear);
		assert_true(fabs(v.total.s - rows[i].s) < 1e-9 && fabs(v.total.lo - rows[i].lo) < 1e-9 &&
			    fabs(v.total.hi - rows[i].hi) < 1e-9);
		assert_true(v.plain_s == 100 / rows[i].bytes_per_s);
	}
}

UNIT_GROUP(NULL, NULL)
