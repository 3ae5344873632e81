/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by every unit test: cmocka with the headers that it needs first, those of the C library for text, and a
 * way to write a test where it stands.
 */
#ifndef ASSAY_TESTS_UNIT_H
#define ASSAY_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* cmocka 2 warns of its name in 1. */
#ifdef assert_uint_in_range
#undef assert_in_range
#define assert_in_range(value, low, high) assert_uint_in_range(value, low, high)
#endif

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* The tests of a file in the order of its source; those that are not there have no name. */
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

/* The tests of one file, which the program of its folder (main.c) runs in a process of their own. */
struct unit_group {
	const char *file;
	struct CMUnitTest *tests;
	CMFixtureFunction set_up, tear_down; /* before the first test and after the last; NULL: nothing */
	int (*run)(char **argv);             /* in place of cmocka's; NULL: as cmocka does */
	/* Was the program started again by a test, to be something else? With its exit status. NULL: never. */
	bool (*entry)(int argc, char **argv, int *status);
	struct unit_group *next;
};

void unit_register(struct unit_group *group);

/* The end of each file of tests; the last two are fields of struct unit_group. */
#define UNIT_GROUP(set_up, tear_down) UNIT_GROUP_WITH(set_up, tear_down, NULL, NULL)
#define UNIT_GROUP_WITH(set_up, tear_down, run, entry)                                                                 \
	__attribute__((constructor)) static void unit_register_file(void)                                              \
	{                                                                                                              \
		static struct unit_group group = { __FILE__, unit_tests, set_up, tear_down, run, entry, NULL };        \
                                                                                                                       \
		unit_register(&group);                                                                                 \
	}

/* Runs the tests of a file, as many as have been added by now. */
#define UNIT_RUN(set_up, tear_down) cmocka_run_group_tests(unit_tests, set_up, tear_down)

#endif
