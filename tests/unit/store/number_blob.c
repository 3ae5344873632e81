/* SPDX-License-Identifier: Apache-2.0 */
/* The blob of a result's numbers: every value comes back, bit by bit, and damage is refused. */
#include "unit.h"

#include <math.h>

#include "store/blobs.h"

TEST(test_every_value_comes_back)
{
	static const struct assay_stored_number v[] = {
		{ 1, 0, 1 },
		{ 2, -0.0, 1 },
		{ 3, 17, 0.4375 },
		{ 4, -3, 1 },
		{ 300, 1.0 / 3, 1 },
		{ 5, 9007199254740991.0, 1 },
		{ 6, 9007199254740992.0, 1 },
		{ 7, -1.5e300, 1 },
		{ 1, 5e-324, 1e-9 },
	};
	struct assay_stored_number *got = NULL;
	unsigned char *blob = NULL;
	struct assay_err err;
	size_t len = 0, n = 0;

	assert_int_equal(assay_number_blob_encode(v, N_OF(v), &blob, &len, &err), 0);
	assert_int_equal(assay_number_blob_decode(blob, len, &got, &n, &err), 0);
	assert_int_equal(n, N_OF(v));
	for (size_t i = 0; i < n; i++) {
		assert_true(got[i].name == v[i].name);
		assert_memory_equal(&got[i].value, &v[i].value, sizeof(double));
		assert_true(got[i].running_frac == v[i].running_frac);
	}
	free(got);
	/* whatever is cut off or added */
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(assay_number_blob_decode(blob, cut, &got, &n, &err), ASSAY_ESTORE);
	free(blob);
}

TEST(test_bytes_of_version_1)
{
	static const struct assay_stored_number v[] = { { 1, -2, 1 }, { 40, 0.5, 0.25 } };
	static const unsigned char want[] = { 1, 2,    4,    3, 0xa3, 1, 0, 0, 0, 0,    0,
					      0, 0xe0, 0x3f, 0, 0,    0, 0, 0, 0, 0xd0, 0x3f };
	unsigned char *blob = NULL;
	size_t len = 0;

	assert_int_equal(assay_number_blob_encode(v, 2, &blob, &len, NULL), 0);
	assert_int_equal(len, sizeof(want));
	assert_memory_equal(blob, want, len);
	free(blob);
}

TEST(test_damage_is_refused)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *part;
	} rows[] = {
		{ "", 0, "cut off" },
		{ "\2\0", 2, "have format 2, this assay reads 1" },
		{ "\1\3\4\0", 4, "not as many" },
		{ "\1\1\0\0", 4, "end elsewhere" },                    /* no name */
		{ "\1\1\4\0\0", 5, "end elsewhere" },                  /* a byte too many */
		{ "\1\1\5\0\0\0\0\0\0\xf0\x7f", 11, "end elsewhere" }, /* infinite */
		{ "\1\1\6\0\0\0\0\0\0\0\0\x40", 12, "end elsewhere" }, /* counted twice the time */
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_stored_number *got = NULL;
		struct assay_err err = { 0 };
		size_t n = 0;

		assert_int_equal(assay_number_blob_decode(rows[i].bytes, rows[i].len, &got, &n, &err), ASSAY_ESTORE);
		if (!strstr(err.text, rows[i].part))
			fail_msg("'%s' lacks '%s'", err.text, rows[i].part);
		assert_null(got);
	}
}

UNIT_GROUP(NULL, NULL)
