/* SPDX-License-Identifier: Apache-2.0 */
/* The committed file of exact counts. */
#include "exact_fixture.h"

#include <unistd.h>

#include "base/file.h"
#include "judge/exact_baseline.h"

static char path[] = "/tmp/assay-exact-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

static void write_text(const char *text)
{
	assert_int_equal(assay_file_write(path, text, strlen(text), NULL), 0);
}

static char *format(const struct assay_exact_baseline *b)
{
	struct assay_text out = { 0 };

	assert_int_equal(assay_exact_baseline_format(b, &out, NULL), 0);
	return assay_text_take(&out);
}

TEST(what_is_written_is_read)
{
	size_t kept;
	struct assay_exact_baseline b = { 0 }, again = { 0 };
	struct assay_exact_run run = exact_run(), other = exact_run();
	const struct assay_exact_run *base;
	struct assay_err err = { 0 };
	char *first, *second, why[512];

	strcpy(other.build.compiler, "clang version 14");
	add_exact_case(&run, "op.c/avx512/n=1/t=1/warm", ASSAY_STATUS_SKIPPED, "needs avx512f");
	assert_int_equal(assay_exact_baseline_put(&b, &run, false, &kept, &err), 0);
	assert_int_equal(assay_exact_baseline_put(&b, &other, false, &kept, &err), 0);
	assert_int_equal(assay_exact_baseline_put(&b, &run, false, &kept, &err), 0); /* takes the place of itself */
	assert_int_equal(b.n_builds, 2);
	first = format(&b);
	write_text(first);
	assert_int_equal(assay_exact_baseline_load(&again, path, &err), 0);
	second = format(&again);
	assert_string_equal(first, second);
	/* one line a function */
	assert_non_null(
		strstr(first, "\n          \"matmul_ternary_avx2\": [40985, 10246, 5123, 0, 500, 250, 4098, 3],\n"));
	assert_non_null(strstr(first, "\n          \"memcpy (libc.so.6)\": [800, 200, 100, 0, 10, 5, 80, 3]\n"));
	assert_null(strstr(first, "op.c"));

	base = assay_exact_baseline_match(&again, &run, why, sizeof(why));
	assert_non_null(base);
	assert_int_equal(base->n_cases, 2);
	strcpy(run.build.compiler, "cc (Debian 12.2.0-14) 12.2.0"); /* the same by another name */
	assert_non_null(assay_exact_baseline_match(&again, &run, why, sizeof(why)));
	strcpy(run.build.compiler, "gcc (Debian 13.0) 13.0");
	assert_null(assay_exact_baseline_match(&again, &run, why, sizeof(why)));
	assert_string_equal(why, "counts are recorded for 'gcc (Debian 12.2.0-14) 12.2.0' and others, and code for "
				 "'gcc (Debian 13.0) 13.0' has others");
	run = (assay_exact_run_release(&run), exact_run());
	strcpy(run.build.flags, "-O3");
	assert_null(assay_exact_baseline_match(&again, &run, why, sizeof(why)));
	assert_string_equal(why, "counts are recorded for '-O2 -g' and others, and code for '-O3' has others");
	run = (assay_exact_run_release(&run), exact_run());
	run.seed = 7;
	assert_null(assay_exact_baseline_match(&again, &run, why, sizeof(why)));
	assert_non_null(strstr(why, "seed 42, and this run has seed 7"));
	run.seed = 42;
	strcpy(run.setting.cache, "host: I1");
	assert_null(assay_exact_baseline_match(&again, &run, why, sizeof(why)));
	assert_non_null(strstr(why, "other caches: canon"));
	free(first);
	free(second);
	assay_exact_baseline_release(&b);
	assay_exact_baseline_release(&again);
	assay_exact_run_release(&run);
	assay_exact_run_release(&other);
}

/* A run of a part of the suite leaves the records of the rest alone. */
TEST(other_records_are_kept)
{
	struct assay_exact_baseline b = { 0 };
	struct assay_exact_run run = exact_run(), part = exact_run();
	size_t kept = 99;

	assert_int_equal(assay_exact_baseline_put(&b, &run, false, &kept, NULL), 0);
	assert_int_equal(kept, 0);
	assay_exact_case_release(&part.cases[1]);
	part.n_cases = 1;
	part.cases[0].functions[0].counts.v[0] += 5;
	part.cases[0].total.v[0] += 5;
	assert_int_equal(assay_exact_baseline_put(&b, &part, false, &kept, NULL), 0);
	assert_int_equal(kept, 1);
	assert_int_equal(b.builds[0].n_cases, 2);
	assert_true(b.builds[0].cases[0].total.v[0] == part.cases[0].total.v[0]);
	assert_string_equal(b.builds[0].cases[1].key, run.cases[1].key);
	assert_true(b.builds[0].cases[1].total.v[0] == run.cases[1].total.v[0]);
	/* but not with counts that were taken otherwise, nor against the user's word */
	assert_int_equal(assay_exact_baseline_put(&b, &part, true, &kept, NULL), 0);
	assert_int_equal(kept, 0);
	assert_int_equal(b.builds[0].n_cases, 1);
	assert_int_equal(assay_exact_baseline_put(&b, &run, false, &kept, NULL), 0);
	strcpy(part.setting.cache, "host: I1");
	assert_int_equal(assay_exact_baseline_put(&b, &part, false, &kept, NULL), 0);
	assert_int_equal(kept, 0);
	assert_int_equal(b.builds[0].n_cases, 1);
	assay_exact_baseline_release(&b);
	assay_exact_run_release(&run);
	assay_exact_run_release(&part);
}

TEST(a_bad_file_is_refused)
{
	static const struct {
		const char *find, *put, *says;
	} cases[] = {
		{ "\"schema\": 1", "\"schema\": 2", "expected \"schema\": 1" },
		{ "\"data_reads\", ", "", "its events are not those" },
		{ "[800, 200", "[801, 200", "the (total) is not the sum of the functions of '" KEY_B "'" },
		{ "[800, 200, ", "[800, ", "expected as many counts as events for" },
		{ "[800, 200", "[-800, 200", "expected as many counts as events for" },
		{ "\"arch\": \"x86_64\"", "\"arc\": \"\"", "a build lacks arch" },
		{ "],\n", "\n", ":" }, /* the reader of JSON says where */
	};
	struct assay_exact_baseline b = { 0 };
	struct assay_exact_run run = exact_run();
	size_t kept;
	char *good;

	assert_int_equal(assay_exact_baseline_put(&b, &run, false, &kept, NULL), 0);
	good = format(&b);
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_exact_baseline bad = { 0 };
		struct assay_err err = { 0 };
		char *at = strstr(good, cases[i].find), *text;

		assert_non_null(at);
		assert_true(asprintf(&text, "%.*s%s%s", (int)(at - good), good, cases[i].put,
				     at + strlen(cases[i].find)) > 0);
		write_text(text);
		assert_int_equal(assay_exact_baseline_load(&bad, path, &err), ASSAY_EUSAGE);
		if (!strstr(err.text, cases[i].says) || !strstr(err.text, path))
			fail_msg("case %zu says: %s", i, err.text);
		assert_null(bad.builds);
		free(text);
	}
	assert_int_equal(assay_exact_baseline_load(&b, "/nowhere/at/all.json", NULL), ASSAY_ENOTFOUND);
	free(good);
	assay_exact_baseline_release(&b);
	assay_exact_run_release(&run);
}

/* Which way a case was counted, and its lines, as far as they are some share of it. */
TEST(how_and_lines_are_kept)
{
	static const char lines[] = "line\tkernel.c\t12\tmatmul_ternary_avx2\t40000 1 0 0 0 0 0 0\n"
				    "line\tkernel.c\t13\tmatmul_ternary_avx2\t2 0 0 0 0 0 0 0\n";
	struct assay_exact_baseline b = { 0 }, again = { 0 };
	struct assay_exact_run run = exact_run();
	struct assay_err err = { 0 };
	size_t kept;
	char *text;

	run.cases[0].how = ASSAY_EXACT_STEPPED;
	run.cases[0].detail = strdup(lines);
	assert_int_equal(assay_exact_baseline_put(&b, &run, false, &kept, &err), 0);
	text = format(&b);
	assert_non_null(strstr(text, "\"(how)\": \"stepped\",\n"));
	assert_non_null(strstr(text, "\"kernel.c:12 matmul_ternary_avx2\": [40000, 1, 0, 0, 0, 0, 0, 0]\n"));
	write_text(text);
	assert_int_equal(assay_exact_baseline_load(&again, path, &err), 0);
	assert_int_equal(again.builds[0].cases[0].how, ASSAY_EXACT_STEPPED);
	assert_int_equal(again.builds[0].cases[1].how, ASSAY_EXACT_CALLGRIND);
	assert_memory_equal(again.builds[0].cases[0].detail, lines, strcspn(lines, "\n") + 1);
	assert_int_equal(strlen(again.builds[0].cases[0].detail), strcspn(lines, "\n") + 1);
	free(text);
	assay_exact_baseline_release(&again);
	assay_exact_baseline_release(&b);
	assay_exact_run_release(&run);
}

UNIT_GROUP(make_file, remove_file)
