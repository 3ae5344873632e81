/* SPDX-License-Identifier: Apache-2.0 */
/* Names find their numbers, whatever their hashes and however many they are. */
#include "base/hash.h"
#include "unit.h"

TEST(first_number_stays)
{
	struct assay_name_index x = { 0 };
	bool found = true;
	size_t at = 7;

	assert_false(assay_name_index_find(&x, "a", &at));
	assert_int_equal(assay_name_index_put(&x, "a", 3, &at, &found, NULL), 0);
	assert_true(at == 3 && !found);
	assert_int_equal(assay_name_index_put(&x, "a", 4, &at, &found, NULL), 0);
	assert_true(at == 3 && found && x.n == 1);
	assay_name_index_set(&x, "a", 5);
	assert_true(assay_name_index_find(&x, "a", &at) && at == 5);
	assert_false(assay_name_index_find(&x, "", &at));
	assert_int_equal(assay_name_index_put(&x, "", 6, &at, NULL, NULL), 0);
	assert_true(assay_name_index_find(&x, "", &at) && at == 6);
	assay_name_index_release(&x);
	assert_false(assay_name_index_find(&x, "a", &at));
}

TEST(names_are_copied_and_all_found)
{
	enum { N = 20000 };
	struct assay_name_index x = { 0 };
	bool found;
	size_t at;
	char name[32];

	for (size_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "name/%zu", i);
		assert_int_equal(assay_name_index_put(&x, name, i, &at, &found, NULL), 0);
		assert_true(at == i && !found);
	}
	assert_true(x.n == N && x.cap >= 2 * x.n);
	for (size_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "name/%zu", i);
		assert_true(assay_name_index_find(&x, name, &at) && at == i);
	}
	assert_false(assay_name_index_find(&x, "name/20000", &at));
	assay_name_index_release(&x);
}

UNIT_GROUP(NULL, NULL)
