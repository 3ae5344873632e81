/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every unit test includes: cmocka with the headers that it needs first, those of the C library for text, and a
 * way to write a test where it stands.
 */
#ifndef ASSAY_TESTS_UNIT_H
#define ASSAY_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* The tests of a program in the order of its source; those that are not there have no name. */
static struct CMUnitTest unit_tests[256] __attribute__((unused));

static inline void unit_add(struct CMUnitTest test)
{
	size_t n = 0;

	while (unit_tests[n].name)
		n++;
	if (n + 1 >= N_OF(unit_tests))
		abort();
	unit_tests[n] = test;
}

/* The head of a test, whose body may read `state`; and of one with what runs before and after it (NULL: nothing). */
#define TEST(test) TEST_WITH(test, NULL, NULL)
#define TEST_WITH(test, set_up, tear_down)                                                                             \
	static void test(void **state);                                                                                \
	__attribute__((constructor)) static void unit_add_##test(void)                                                 \
	{                                                                                                              \
		unit_add((struct CMUnitTest)cmocka_unit_test_setup_teardown(test, set_up, tear_down));                 \
	}                                                                                                              \
	static void test(void **state)

/* The program: all tests, with what runs before the first and after the last. */
#define UNIT_MAIN(set_up, tear_down)                                                                                   \
	int main(void)                                                                                                 \
	{                                                                                                              \
		return cmocka_run_group_tests(unit_tests, set_up, tear_down);                                          \
	}

#endif
