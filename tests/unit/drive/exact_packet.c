/* SPDX-License-Identifier: Apache-2.0 */
/* A counted case goes from one process to another whole, or not at all. */
#include "exact_fixture.h"

#include "drive/exact/schedule.h"

static struct assay_text pack(const struct assay_exact_case *c)
{
	struct assay_text t = { 0 };

	assay_exact_pack(c, ASSAY_EXACT_END_LATE, &t);
	assert_false(t.failed);
	return t;
}

TEST(a_case_comes_back_as_it_was)
{
	struct assay_exact_run run = exact_run();
	struct assay_exact_case *c = &run.cases[0], back;
	enum assay_exact_end end = ASSAY_EXACT_END_OTHER;

	for (int texts = 0; texts < 2; texts++) {
		struct assay_text t;

		c->detail = texts ? strdup("line\tkernel.c\t12\tsum\t900 0 0 0 0 0 0 0\n") : NULL;
		c->log = texts ? strdup("said") : NULL;
		t = pack(c);
		assert_int_equal(assay_exact_unpack(t.s, t.len, &back, &end, NULL), 0);
		assert_int_equal(end, ASSAY_EXACT_END_LATE);
		assert_string_equal(back.key, c->key);
		assert_int_equal(back.n_functions, 2);
		assert_memory_equal(back.functions, c->functions, 2 * sizeof(*c->functions));
		assert_memory_equal(&back.total, &c->total, sizeof(c->total));
		if (texts) {
			assert_string_equal(back.detail, c->detail);
			assert_string_equal(back.log, c->log);
		} else {
			assert_null(back.detail);
			assert_null(back.log);
		}
		assay_exact_case_release(&back);
		assay_text_release(&t);
	}
	assay_exact_run_release(&run);
}

TEST(what_is_cut_short_is_refused)
{
	struct assay_exact_run run = exact_run();
	struct assay_text t = pack(&run.cases[0]);
	struct assay_exact_case back;
	enum assay_exact_end end;
	struct assay_err err = { 0 };
	const size_t lengths[] = { 0, sizeof(back), t.len - 1 };

	for (size_t i = 0; i < N_OF(lengths); i++) {
		assert_int_equal(assay_exact_unpack(t.s, lengths[i], &back, &end, &err), ASSAY_EINTERNAL);
		assert_non_null(strstr(err.text, "cut short"));
		assay_exact_case_release(&back);
	}
	assay_text_release(&t);
	assay_exact_run_release(&run);
}

UNIT_GROUP(NULL, NULL)
