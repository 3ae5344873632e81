/* SPDX-License-Identifier: Apache-2.0 */
/* Callgrind's file, whole, cut short and damaged; versions, features, and the command a worker gets. */
#include "unit.h"
#include "base/file.h"
#include "counters/callgrind/callgrind.h"

#define PROGRAM "/opt/bin/program"

static __attribute__((noinline)) char *fixture(void)
{
	char *text = NULL;
	size_t len;

	assert_int_equal(assay_file_read("tests/fixtures/callgrind/two_dumps.out", &text, &len, NULL), 0);
	return text;
}

TEST(functions_are_read)
{
	static const struct {
		const char *dump, *skip, *function, *object;
		uint64_t counts
			[ASSAY_N_EXACT_EVENTS]; /* instructions, reads, writes, i1, d1, ll, branches, mispredictions */
		size_t n_functions;
		uint64_t total_instructions;
	} cases[] = {
		{ "run", PROGRAM, "f", "kernel.so", { 40007, 10001, 0, 1, 1252, 1252, 10001, 10 }, 2, 40015 },
		{ "run", PROGRAM, "g", "kernel.so", { 8, 1, 1, 1, 0, 1, 0, 0 }, 2, 40015 },
		{ "check", PROGRAM, "f", "kernel.so", { 40007, 10001, 0, 0, 1252, 0, 10001, 8 }, 2, 40015 },
		{ "check", NULL, "main", "program", { 16, 1, 9, 2, 2, 3, 0, 0 }, 3, 40031 },
	};
	char *text = fixture();

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_exact_case c = { .key = "" };
		const struct assay_exact_function *f;
		struct assay_err err = { 0 };

		if (assay_callgrind_parse(text, cases[i].dump, cases[i].skip, &c, &err))
			fail_msg("case %zu: %s", i, err.text);
		assert_int_equal(c.n_functions, cases[i].n_functions);
		assert_int_equal(c.total.v[ASSAY_EXACT_INSTRUCTIONS], cases[i].total_instructions);
		f = assay_exact_function_find(&c, cases[i].function, cases[i].object);
		assert_non_null(f);
		assert_memory_equal(f->counts.v, cases[i].counts, sizeof(f->counts.v));
		assay_exact_case_release(&c);
	}
	free(text);
}

/* The linker takes any bytes for the name of a function. */
TEST(names_are_printable)
{
	char *text = fixture(), *name = strstr(text, "fn=(4) f\n");
	struct assay_exact_case c = { .key = "" };
	bool found = false;

	assert_non_null(name);
	name[7] = '\033';
	assert_int_equal(assay_callgrind_parse(text, "run", PROGRAM, &c, NULL), 0);
	for (size_t i = 0; i < c.n_functions; i++)
		found |= !strcmp(c.functions[i].name, "?");
	assert_true(found);
	assay_exact_case_release(&c);
	free(text);
}

/* Wherever the file ends, what is not whole is never taken for it. */
TEST(a_file_cut_short_is_refused)
{
	char *text = fixture(), *end = strstr(text, "totals: 40020");
	size_t whole;

	assert_non_null(end);
	whole = (size_t)(end - text) + strlen("totals: 40020 10003 3 4 1252 2 4 1251 2 10001 1");
	for (size_t len = 0; len < whole; len++) {
		struct assay_exact_case c = { .key = "" };
		struct assay_err err = { 0 };
		char *part = strndup(text, len);

		assert_int_equal(assay_callgrind_parse(part, "run", PROGRAM, &c, &err), ASSAY_EIO);
		assert_true(err.text[0] != '\0');
		assay_exact_case_release(&c);
		free(part);
	}
	free(text);
}

TEST(damage_is_refused)
{
	static const struct {
		const char *find, *put, *says;
	} cases[] = {
		{ "5 40007 10001", "5 40008 10001", "the totals are not the sum of the functions" },
		{ "fn=(4) f", "fn=(9999999) f", "a function without a name" },
		{ "cfn=(4)\n", "cfn=(7)\n", "a called function without a name" },
		{ "10 2 0 0 1", "10 x 0 0 1", "not a list of counts" },
		{ "Client Request: run", "Client Request: ruin", "no dump 'run'" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		char *text = fixture(), *at = strstr(text, cases[i].find), *bad;
		struct assay_exact_case c = { .key = "" };
		struct assay_err err = { 0 };

		assert_non_null(at);
		*at = '\0';
		assert_true(asprintf(&bad, "%s%s%s", text, cases[i].put, at + strlen(cases[i].find)) > 0);
		assert_int_equal(assay_callgrind_parse(bad, "run", PROGRAM, &c, &err), ASSAY_EIO);
		if (!strstr(err.text, cases[i].says))
			fail_msg("case %zu says: %s", i, err.text);
		assay_exact_case_release(&c);
		free(bad);
		free(text);
	}
}

TEST(versions)
{
	static const struct {
		const char *text, *says; /* NULL: it will do */
	} cases[] = {
		{ "valgrind-3.19.0\n", NULL },
		{ "valgrind-3.13.0", NULL },
		{ "valgrind-4.0.GIT", NULL },
		{ "valgrind-3.12.0\n", "valgrind-3.12.0 is too old: install valgrind 3.13 or later" },
		{ "valgrind-2.4.0\n", "too old" },
		{ "Illegal instruction\n", "valgrind says 'Illegal instruction' instead of its version" },
		{ "", "instead of its version" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_err err = { 0 };
		int rc = assay_callgrind_check_version(cases[i].text, &err);

		assert_int_equal(rc, cases[i].says ? ASSAY_EUNAVAILABLE : 0);
		if (cases[i].says && !strstr(err.text, cases[i].says))
			fail_msg("'%s' says: %s", cases[i].text, err.text);
	}
}

TEST(features)
{
	char unknown[64], cap[64];

	assert_true(assay_callgrind_knows(NULL, NULL, 0));
	assert_true(assay_callgrind_knows("", unknown, sizeof(unknown)));
#if defined(__x86_64__)
	assert_true(assay_callgrind_knows("avx2,fma, f16c", unknown, sizeof(unknown)));
	assert_false(assay_callgrind_knows("avx2,avx512_vnni,avx512f", unknown, sizeof(unknown)));
	assert_string_equal(unknown, "avx512_vnni");
	assert_false(assay_callgrind_knows("avx51", unknown, sizeof(unknown)));
	assay_callgrind_cap("sse4_2,avx,avx2,avx512f,gfni,fma", cap, sizeof(cap));
	assert_string_equal(cap, "sse4_2,avx,avx2,fma");
#else
	assert_false(assay_callgrind_knows("avx2", unknown, sizeof(unknown)));
	assay_callgrind_cap("avx2", cap, sizeof(cap));
	assert_string_equal(cap, "");
#endif
}

/* As a worker that was stepped writes it: a part a thread, files, branches taken, a mix. */
TEST(threads_lines_and_mix_are_read)
{
	static const char head[] = "version: 1\nevents: Ir Dr Dw I1mr D1mr DLmr Bc Bcm Taken\n";
	static const char part[] = "part: %d\nthread: %d\ndesc: Trigger: Client Request: run\n"
				   "events: Ir Dr Dw I1mr D1mr DLmr Bc Bcm Taken\n%s"
				   "ob=/x/kernel.so\nfl=/src/kernel.c\nfn=f\n16 10 2 1 0 1 0 1 0 1\n+2 5\n"
				   "fi=inner.h\n7 1 1\ntotals: 16 3 1 0 1 0 1 0 1\n";
	static const char want[] = "line\tinner.h\t7\tf\t2 2 0 0 0 0 0 0\n"
				   "line\tkernel.c\t16\tf\t20 4 2 0 2 0 2 0\n"
				   "line\tkernel.c\t18\tf\t10 0 0 0 0 0 0 0\n"
				   "thread\t16 3 1 0 1 0 1 0\nthread\t16 3 1 0 1 0 1 0\n"
				   "mix\tfloat_512_operations\t300\nmix\tbranches_taken\t2\n";
	static const struct {
		const char *mix, *reason; /* NULL: it is read */
	} cases[] = {
		{ "desc: Mix: float_512_operations 150\n", NULL },
		{ "desc: Mix: float_512_operations\n", "not the name of a mix" },
		{ "desc: Mix: float_512_operations many\n", "not the name of a mix" },
		{ "desc: Mix:  150\n", "not the name of a mix" },
		{ "fl=(99)\n", "a file without a name" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		char text[4096], one[1024], two[1024];
		struct assay_exact_case c = { .key = "" };
		struct assay_err err = { 0 };
		int rc;

		snprintf(one, sizeof(one), part, 1, 1, cases[i].mix);
		snprintf(two, sizeof(two), part, 2, 2, cases[i].mix);
		snprintf(text, sizeof(text), "%s%s%s", head, one, two);
		rc = assay_callgrind_parse(text, "run", NULL, &c, &err);
		if (cases[i].reason) {
			assert_int_equal(rc, ASSAY_EIO);
			assert_non_null(strstr(err.text, cases[i].reason));
		} else {
			assert_int_equal(rc, 0);
			assert_int_equal(c.total.v[ASSAY_EXACT_INSTRUCTIONS], 32);
			assert_int_equal(c.n_functions, 1);
			assert_string_equal(c.detail, want);
		}
		assay_exact_case_release(&c);
	}
}

UNIT_GROUP(NULL, NULL)
