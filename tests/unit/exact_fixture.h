/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts made by hand, which several tests share. */
#ifndef ASSAY_TESTS_EXACT_FIXTURE_H
#define ASSAY_TESTS_EXACT_FIXTURE_H

#include "unit.h"
#include "model/exact.h"

#define KEY_A "op.a/avx2/n=1/t=1/warm"
#define KEY_B "op.b/ref/n=1/t=1/cold"

/* Instructions and level-1 misses of one function; the other counts follow from them. */
static inline void add_function(struct assay_exact_case *c, const char *name, const char *object, uint64_t instructions,
				uint64_t d1_misses)
{
	struct assay_exact_function f = { .counts = { { instructions, instructions / 4, instructions / 8, 0, d1_misses,
							d1_misses / 2, instructions / 10, 3 } } };

	snprintf(f.name, sizeof(f.name), "%s", name);
	snprintf(f.object, sizeof(f.object), "%s", object);
	assert_int_equal(assay_exact_add_function(c, &f), 0);
}

static inline struct assay_exact_case *add_exact_case(struct assay_exact_run *run, const char *key,
						      enum assay_status status, const char *reason)
{
	struct assay_exact_case *c;

	run->cases = realloc(run->cases, (run->n_cases + 1) * sizeof(*run->cases));
	assert_non_null(run->cases);
	c = &run->cases[run->n_cases++];
	*c = (struct assay_exact_case){ .status = status };
	snprintf(c->key, sizeof(c->key), "%s", key);
	snprintf(c->reason, sizeof(c->reason), "%s", reason);
	return c;
}

/* Two cases: KEY_A with two functions, KEY_B with one of a library. */
static inline struct assay_exact_run exact_run(void)
{
	struct assay_exact_run run = {
		.suite = "quick",
		.seed = 42,
		.started_ns = 1700000000000000000u,
		.build = { .compiler = "gcc (Debian 12.2.0-14) 12.2.0", .flags = "-O2 -g", .id = "b1" },
		.setting = { .arch = "x86_64",
			     .tool = "valgrind-3.19.0",
			     .libc = "glibc 2.36",
			     .cache = "canon: I1 32 KiB",
			     .features = "avx2",
			     .environment = "A=1 B=2" }
	};
	struct assay_exact_case *c = add_exact_case(&run, KEY_A, ASSAY_STATUS_OK, "");

	add_function(c, "matmul_ternary_avx2", "", 40985, 500);
	add_function(c, "sum", "", 1000, 20);
	c = add_exact_case(&run, KEY_B, ASSAY_STATUS_OK, "");
	add_function(c, "memcpy", "libc.so.6", 800, 10);
	return run;
}

#endif
