/* SPDX-License-Identifier: Apache-2.0 */
/* The sample blob: every value comes back, and no bytes whatever make the decoder accept damage or read past them. */
#include "blob_seal.h"
#include "store/blobs.h"
#include "unit.h"

static void assert_round_trip(const struct assay_sample *v, size_t n)
{
	struct assay_sample *back = NULL;
	unsigned char *blob = NULL;
	struct assay_err err = { 0 };
	size_t len = 0, m = 12345;

	assert_int_equal(assay_sample_blob_encode(v, n, &blob, &len, &err), 0);
	assert_int_equal(assay_sample_blob_decode(blob, len, &back, &m, &err), 0);
	assert_int_equal(m, n);
	if (n)
		assert_memory_equal(back, v, n * sizeof(*v));
	else
		assert_null(back);
	free(back);
	free(blob);
}

TEST(test_round_trips)
{
	static const struct assay_sample constant[] = { { 8, 500, 0, 0, 0, 0, 0, 0 },
							{ 8, 500, 0, 0, 0, 0, 0, 0 },
							{ 8, 500, 0, 0, 0, 0, 0, 0 } };
	static const struct assay_sample disturbed[] = {
		{ 1, 1, ASSAY_DISTURB_SWITCH, 3, 0, 0, 0, 0 },
		{ 1, 900, ASSAY_DISTURB_STEAL | ASSAY_DISTURB_FAULT, 0, 7, 2, 0, 0 },
		{ 64, 2, 0, 0, 0, 0, 0, 0 },
		{ 1, 2, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 0 },
		{ 1, 2, ASSAY_SAMPLE_WAIT_TOLD, 1, 0, 0, .waited_ns = 13000, .stolen_ns = 0 },
		{ 1, 2, ASSAY_SAMPLE_WAIT_TOLD, 1, 0, 1, .waited_ns = UINT64_MAX, .stolen_ns = UINT64_MAX },
	};
	static const struct assay_sample extremes[] = {
		{ UINT64_MAX, UINT64_MAX, 0, 0, 0, 0, 0, 0 },
		{ 0, 0, 0, 0, 0, 0, 0, 0 },
		{ (uint64_t)1 << 63, (uint64_t)1 << 63, 0, 0, 0, 0, 0, 0 },
		{ ((uint64_t)1 << 63) - 1, ((uint64_t)1 << 63) + 1, 0, 0, 0, 0, 0, 0 },
		{ 0, UINT64_MAX, 0, 0, 0, 0, 0, 0 },
	};
	struct assay_sample *many = calloc(10000, sizeof(*many));

	assert_non_null(many);
	for (size_t i = 0; i < 10000; i++)
		many[i] = (struct assay_sample){ .iterations = 1000,
						 .ns = 1000000 + i * 7919 % 2003,
						 .faults = i % 97 == 0 };
	assert_round_trip(NULL, 0);
	assert_round_trip(constant, 1);
	assert_round_trip(constant, 3);
	assert_round_trip(disturbed, 6);
	assert_round_trip(extremes, 5);
	assert_round_trip(many, 10000);
	free(many);
}

/* The bytes are a promise to databases that exist. */
TEST(test_bytes_of_version_2)
{
	static const struct assay_sample v[] = { { 10, 1000, 0, 0, 0, 0, 0, 0 },
						 { 10, 998, 0, 0, 0, 0, 0, 0 },
						 { 10, 999, 2 | ASSAY_SAMPLE_WAIT_TOLD, 0, 300, 0, .waited_ns = 5,
						   .stolen_ns = 128 } };
	static const unsigned char want[] = {
		2,    3,              /* version, samples */
		1,    0xd0, 0x0f, 20, /* iterations follow; +1000 as zigzag 2000; +10 as 20 */
		0,    3,              /* -2 as 3 */
		234,  2,    2,    0xac,
		0x02, 5,    0x80, 1, /* told; flags, faults, both times follow; +1; 2; 300; 5; 128 */
	};
	unsigned char sealed[sizeof(want) + BLOB_SUM];
	unsigned char *blob = NULL;
	size_t len = 0;

	memcpy(sealed, want, sizeof(want));
	blob_seal(sealed, sizeof(want));
	assert_int_equal(assay_sample_blob_encode(v, 3, &blob, &len, NULL), 0);
	assert_int_equal(len, sizeof(sealed));
	assert_memory_equal(blob, sealed, len);
	free(blob);
	assert_int_equal(assay_sample_blob_encode(NULL, 0, &blob, &len, NULL), 0);
	assert_int_equal(len, 2 + BLOB_SUM);
	free(blob);
}

TEST(test_undisturbed_samples_are_small)
{
	struct assay_sample *v = calloc(1000, sizeof(*v));
	unsigned char *blob = NULL;
	size_t len = 0;

	assert_non_null(v);
	for (size_t i = 0; i < 1000; i++)
		v[i] = (struct assay_sample){ .iterations = 50,
					      .ns = 2000000 + (i * 31) % 5000,
					      .flags = ASSAY_SAMPLE_WAIT_TOLD };
	assert_int_equal(assay_sample_blob_encode(v, 1000, &blob, &len, NULL), 0);
	assert_true(len < 1000 * 3 + 32);
	free(blob);
	free(v);
}

static void assert_refused(const void *blob, size_t len, const char *text)
{
	struct assay_sample *v = NULL;
	struct assay_err err = { 0 };
	size_t n = 77;

	assert_int_equal(assay_sample_blob_decode(blob, len, &v, &n, &err), ASSAY_ESTORE);
	assert_null(v);
	assert_int_equal(n, 77);
	if (!strstr(err.text, text))
		fail_msg("'%s' lacks '%s'", err.text, text);
}

TEST(test_damage_is_refused)
{
	struct assay_sample v[20];
	unsigned char *blob = NULL;
	size_t len = 0;

	for (unsigned i = 0; i < 20; i++)
		v[i] = (struct assay_sample){ .iterations = 1 + i / 7, .ns = 100000 + i * i, .flags = i % 3 };
	assert_int_equal(assay_sample_blob_encode(v, 20, &blob, &len, NULL), 0);
	for (size_t cut = 0; cut < len; cut++) {
		unsigned char *copy = malloc(cut ? cut : 1);

		assert_non_null(copy);
		memcpy(copy, blob, cut);
		assert_refused(copy, cut, "sample data");
		free(copy);
	}
	for (size_t bit = 0; bit < len * 8; bit++) {
		blob[bit / 8] ^= (unsigned char)(1 << bit % 8);
		assert_refused(blob, len, "sample data");
		blob[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	free(blob);
}

/* Bodies whose check sum is right, so that only the decoder's own checks stand in the way. */
TEST(test_malformed_bodies_are_refused)
{
	static const struct {
		unsigned char body[32];
		size_t len;
		const char *text;
	} cases[] = {
		{ { 3, 0 }, 2, "have format 3, this assay reads 2" },
		{ { 2, 1 }, 2, "number of samples" },
		{ { 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 }, 11, "number of samples" },
		{ { 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02 }, 11, "number of samples" },
		{ { 2, 0x80 }, 2, "number of samples" },
		{ { 2, 1, 0x20, 0 }, 4, "length differs" },
		{ { 2, 1, 0, 0, 0 }, 5, "length differs" },
		{ { 1, 0 }, 2, "have format 1, this assay reads 2" },
		{ { 2, 1, 1, 0 }, 4, "length differs" },
		{ { 2, 0, 0 }, 3, "length differs" },
		{ { 2, 1, 2, 0, 0x80, 0x80, 0x80, 0x80, 0x10 }, 9, "length differs" }, /* flags over 32 bits */
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		unsigned char blob[32 + BLOB_SUM];

		memcpy(blob, cases[i].body, cases[i].len);
		blob_seal(blob, cases[i].len);
		assert_refused(blob, cases[i].len + BLOB_SUM, cases[i].text);
	}
}

UNIT_GROUP(NULL, NULL)
