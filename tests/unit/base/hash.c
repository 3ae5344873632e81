/* SPDX-License-Identifier: Apache-2.0 */
/* Digests against the values that xxh128sum prints, and streaming against one call. */
#include "unit.h"
#include "base/hash.h"

TEST(known_values)
{
	static const struct {
		const char *data, *want;
	} cases[] = {
		/* the empty string: the test vector of XXH3_128bits in the xxHash specification */
		{ "", "99aa06d3014798d86001c324468d497f" },
		{ "a", "a96faf705af16834e6c632b61e964e1f" },
		{ "abc", "06b05ab6733a618578af5f94892f3950" },
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		assert_string_equal(assay_hash(cases[i].data, strlen(cases[i].data)).hex, cases[i].want);
}

TEST(streaming_is_the_same)
{
	unsigned char data[5000];
	struct assay_digest whole;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 31 + (i >> 5));
	whole = assay_hash(data, sizeof(data));
	for (size_t step = 1; step < sizeof(data); step = step * 3 + 1) {
		struct assay_hasher *h = assay_hasher_new();

		assert_non_null(h);
		for (size_t at = 0; at < sizeof(data); at += step)
			assay_hasher_add(h, data + at, at + step < sizeof(data) ? step : sizeof(data) - at);
		assay_hasher_add(h, NULL, 0);
		assert_string_equal(assay_hasher_finish(h).hex, whole.hex);
	}

	data[4999] ^= 1;
	assert_string_not_equal(assay_hash(data, sizeof(data)).hex, whole.hex);
}

UNIT_GROUP(NULL, NULL)
