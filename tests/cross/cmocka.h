/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of cmocka as the tests of kernels take, so that they can be compiled for an architecture of which only the C
 * library is installed. A failed assertion ends the program.
 */
#ifndef ASSAY_TESTS_CROSS_CMOCKA_H
#define ASSAY_TESTS_CROSS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEST_EMULATED 1 /* some twenty times slower: fewer of what is drawn at random */

struct CMUnitTest {
	const char *name; /* NULL: none */
	void (*test_func)(void **state);
	void *initial_state;
};

/* No test of kernels has anything before or after it. */
#define cmocka_unit_test_setup_teardown(f, setup, teardown)                                                            \
	{                                                                                                              \
		.name = #f, .test_func = f                                                                             \
	}

static jmp_buf cross_skipped;

#define fail_msg(...)                                                                                                  \
	do {                                                                                                           \
		printf("# %s:%d: ", __FILE__, __LINE__);                                                               \
		printf(__VA_ARGS__);                                                                                   \
		printf("\nBail out!\n");                                                                               \
		exit(1);                                                                                               \
	} while (0)
#define assert_true(c)                                                                                                 \
	do {                                                                                                           \
		if (!(c))                                                                                              \
			fail_msg("%s", #c);                                                                            \
	} while (0)
#define assert_false(c)              assert_true(!(c))
#define assert_null(p)               assert_true(!(p))
#define assert_non_null(p)           assert_true(p)
#define assert_int_equal(a, b)       assert_true((uintmax_t)(a) == (uintmax_t)(b))
#define assert_string_equal(a, b)    assert_true(!strcmp(a, b))
#define assert_memory_equal(a, b, n) assert_true(!memcmp(a, b, n))
#define skip()                       longjmp(cross_skipped, 1)

/* Those without a name stand at the end. */
static inline size_t cross_named(const struct CMUnitTest *tests, size_t n)
{
	while (n && !tests[n - 1].name)
		n--;
	return n;
}

static inline int cross_run(const struct CMUnitTest *tests, size_t n)
{
	printf("1..%zu\n", cross_named(tests, n));
	for (size_t i = 0; i < n && tests[i].name; i++) {
		void *state = tests[i].initial_state;

		if (setjmp(cross_skipped)) {
			printf("ok %zu - %s # SKIP\n", i + 1, tests[i].name);
			continue;
		}
		tests[i].test_func(&state);
		printf("ok %zu - %s\n", i + 1, tests[i].name);
	}
	return 0;
}

typedef int (*CMFixtureFunction)(void **state);

#define cmocka_run_group_tests(tests, setup, teardown)           cross_run(tests, sizeof(tests) / sizeof((tests)[0]))
#define _cmocka_run_group_tests(name, tests, n, setup, teardown) cross_run(tests, n)

#endif
