/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of the matmul ops: cases by shape, and which variants run here. */
#ifndef ASSAY_TESTS_MATMUL_FIXTURE_H
#define ASSAY_TESTS_MATMUL_FIXTURE_H

#include "mini_host.h"

#include "assay/op_matmul.h"

static inline struct mini_case *new_case(const char *op, const char *variant, int64_t m, int64_t k, int64_t n,
					 uint32_t threads)
{
	char axes[128];

	snprintf(axes, sizeof(axes), "m=%lld,k=%lld,n=%lld", (long long)m, (long long)k, (long long)n);
	return mini_new(op, variant, axes,
			&(struct mini_options){ .n_threads = threads, .seed = (uint64_t)(m + k + n) });
}

static inline void *data_of(struct mini_case *c, uint32_t tensor)
{
	return c->tensors[tensor].data;
}

/*
 * For tests of the oracle: the fastest there is, since they are about large problems. Plugins list what suits
 * newer CPUs later.
 */
static inline const char *fastest(void)
{
	const struct mini_names *names = mini_variant_names();

	for (size_t v = names->n; v-- > 0;)
		if (mini_can_run("matmul.ternary", names->v[v]))
			return names->v[v];
	return NULL;
}

/* The oracle says that this element, and none before it, is wrong. */
static inline void expect_wrong(struct mini_case *c, uint32_t tensor, int64_t index)
{
	struct assay_check got = mini_try_check(c);

	assert_int_equal(got.correct, 0);
	assert_int_equal(got.first_bad, index);
	assert_string_equal(got.tensor, c->problem.tensors[tensor].name);
	assert_non_null(strstr(got.reason.text, "want"));
}

#endif
