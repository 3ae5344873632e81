/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests: what is read, what is refused, what is written for a plan, and which case an entry names. */
#include "plan_fixture.h"

#include "base/arch.h"
#include "judge/manifest.h"

#undef N_OF
#include "judge_fixture.h"

static void test_reads(void **state)
{
	static const char text[] = "# comment\n\n"
				   "required a.b/ref/n=1/t=1/warm   # why\n"
				   "\tmay-skip  a.b/avx2/n=1/t=all/cold\r\n"
				   "optional a.c/openblas/-/t=16/warm\n"
				   "may-skip a.d/neon/-/t=1/warm on %s\n"
				   "may-skip a.d/avx2/-/t=1/warm on %s"; /* no newline at the end */
	static const struct {
		const char *key;
		enum assay_manifest_demand demand;
		unsigned line;
	} want[] = {
		{ "a.b/ref/n=1/t=1/warm", ASSAY_MANIFEST_REQUIRED, 3 },
		{ "a.b/avx2/n=1/t=all/cold", ASSAY_MANIFEST_MAY_SKIP, 4 },
		{ "a.c/openblas/-/t=16/warm", ASSAY_MANIFEST_OPTIONAL, 5 },
		{ "a.d/avx2/-/t=1/warm", ASSAY_MANIFEST_MAY_SKIP, 7 },
	};
	bool other = !strcmp(assay_arch(), "s390x");
	struct assay_manifest m;
	struct assay_err err = { 0 };
	struct text_file t;
	char file[512];

	(void)state;
	snprintf(file, sizeof(file), text, other ? "x86_64" : "s390x", assay_arch());
	text_file_write(&t, file);
	if (assay_manifest_load(&m, t.path, &err))
		fail_msg("%s", err.text);
	unlink(t.path);
	assert_string_equal(m.path, t.path);
	assert_int_equal(m.n_entries, N_OF(want));
	for (size_t i = 0; i < N_OF(want); i++) {
		assert_string_equal(m.entries[i].key, want[i].key);
		assert_int_equal(m.entries[i].demand, want[i].demand);
		assert_int_equal(m.entries[i].line, want[i].line);
	}
	assay_manifest_release(&m);
	assert_int_equal(assay_manifest_load(&m, "/nowhere.manifest", &err), ASSAY_ENOTFOUND);
}

static const struct {
	const char *text, *want;
} errors[] = {
	{ "require a/b/-/t=1/warm", "1: unknown word 'require', did you mean 'required'?" },
	{ "\nskip a/b/-/t=1/warm", "2: unknown word 'skip', expected one of required, may-skip, optional" },
	{ "required", "1: '' is no key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/b/t=1/warm", "1: 'a/b/t=1/warm' is no key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/b/-/t=1/hot", "1: 'a/b/-/t=1/hot' is no key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/b/-/t=/warm", "1: 'a/b/-/t=/warm' is no key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/b/-/t=x/warm", "1: 'a/b/-/t=x/warm' is no key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a//-/t=1/warm", "1: 'a//-/t=1/warm' is no key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/b/-/t=1/warm x", "1: 'x' behind the key, expected nothing or 'on ARCHITECTURE'" },
	{ "required a/b/-/t=1/warm on", "1: 'on' behind the key, expected nothing or 'on ARCHITECTURE'" },
	{ "required a/b/-/t=1/warm on x86_64 y", "1: 'on' behind the key, expected nothing or 'on ARCHITECTURE'" },
	{ "required a/b/-/t=1/warm on x86-64", "1: unknown architecture 'x86-64', did you mean 'x86_64'?" },
	{ "required a/b/-/t=1/warm\n#\nmay-skip a/b/-/t=1/warm", "3: 'a/b/-/t=1/warm' stands in line 1 already" },
	{ "# nothing\n", "1: the manifest names no case, expected 'required KEY' lines" },
	{ "", "1: the manifest names no case, expected 'required KEY' lines" },
};

static void test_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(errors); i++) {
		struct assay_manifest m = { 0 };
		struct assay_err err = { 0 };
		struct text_file t;
		int rc;

		text_file_write(&t, errors[i].text);
		rc = assay_manifest_load(&m, t.path, &err);
		unlink(t.path);
		assert_string_equal(without_path(err.text, &t), errors[i].want);
		assert_int_equal(rc, ASSAY_EUSAGE);
		assert_null(m.entries);
	}
}

static void test_matches(void **state)
{
	static const struct {
		const char *entry;
		unsigned threads;
		bool all, want;
	} rows[] = {
		{ "a/ref/n=1/t=1/warm", 1, false, true },   { "a/ref/n=1/t=all/warm", 2, true, true },
		{ "a/ref/n=1/t=2/warm", 2, true, true },    { "a/ref/n=1/t=all/warm", 2, false, false },
		{ "a/ref/n=1/t=1/warm", 2, true, false },   { "a/ref/n=1/t=1/cold", 1, false, false },
		{ "a/ref/n=11/t=1/warm", 1, false, false },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_case c = make_case("a", "ref", 1, rows[i].threads, rows[i].all);
		struct assay_manifest_entry e = { .line = 1 };

		snprintf(e.key, sizeof(e.key), "%s", rows[i].entry);
		assert_int_equal(assay_manifest_matches(&e, &c), rows[i].want);
	}
}

/* What is written can be read again, and demands what the catalog says of each variant. */
static void test_format(void **state)
{
	static const struct {
		const char *op, *variant;
		unsigned threads;
		bool all;
		enum assay_manifest_demand want;
		const char *line;
	} rows[] = {
		{ "plain", "ref", 1, false, ASSAY_MANIFEST_REQUIRED, "\nrequired plain/ref/n=1/t=1/warm\n" },
		{ "plain", "ref", 2, true, ASSAY_MANIFEST_REQUIRED, "\nrequired plain/ref/n=1/t=all/warm\n" },
		{ "plain", "ref", 2, false, ASSAY_MANIFEST_MAY_SKIP, "\nmay-skip plain/ref/n=1/t=2/warm\n" },
		{ "toy.matmul", "ref", 2, true, ASSAY_MANIFEST_MAY_SKIP, "\nmay-skip toy.matmul/ref/n=1/t=all/warm\n" },
		{ "toy.matmul", "fast", 1, false, ASSAY_MANIFEST_MAY_SKIP,
		  "\nmay-skip toy.matmul/fast/n=1/t=1/warm on " },
		{ "toy.matmul", "openblas", 1, false, ASSAY_MANIFEST_OPTIONAL,
		  "\noptional toy.matmul/openblas/n=1/t=1/warm\n" },
		{ "toy.matmul", "cuda", 1, false, ASSAY_MANIFEST_OPTIONAL,
		  "\noptional toy.matmul/cuda/n=1/t=1/warm\n" },
		{ "toy.generate", "fast", 1, false, ASSAY_MANIFEST_MAY_SKIP,
		  "\nmay-skip toy.generate/fast/n=1/t=1/warm on " },
		{ "toy.generate", "ref", 1, false, ASSAY_MANIFEST_REQUIRED,
		  "\nrequired toy.generate/ref/n=1/t=1/warm\n" },
	};
	struct assay_case cases[N_OF(rows)];
	struct assay_text out = { 0 };
	struct assay_manifest m;
	struct text_file t;

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		cases[i] = make_case(rows[i].op, rows[i].variant, 1, rows[i].threads, rows[i].all);
	assert_int_equal(assay_manifest_format("s", cases, N_OF(rows), &toy_catalog, &out, NULL), 0);
	for (size_t i = 0; i < N_OF(rows); i++)
		if (!strstr(out.s, rows[i].line))
			fail_msg("no line %s in %s", rows[i].line, out.s);
	text_file_write(&t, out.s);
	assert_int_equal(assay_manifest_load(&m, t.path, NULL), 0);
	unlink(t.path);
	assert_int_equal(m.n_entries, N_OF(rows));
	for (size_t i = 0; i < N_OF(rows); i++) {
		assert_int_equal(m.entries[i].demand, rows[i].want);
		assert_true(assay_manifest_matches(&m.entries[i], &cases[i]));
	}
	assay_manifest_release(&m);
	assay_text_release(&out);
}

/* What a variant for another architecture must do counts there. */
static void test_format_other_arch(void **state)
{
	const struct assay_case cases[] = { make_case("toy.matmul", "fast", 1, 1, false),
					    make_case("toy.generate", "fast", 1, 1, false) };
	struct assay_text out = { 0 };

	(void)state;
	toy_variants[2].other_arch = "pdp11";
	assert_int_equal(assay_manifest_format("s", cases, N_OF(cases), &toy_catalog, &out, NULL), 0);
	assert_non_null(strstr(out.s, "\nmay-skip toy.matmul/fast/n=1/t=1/warm on pdp11\n"));
	assert_non_null(strstr(out.s, "\nmay-skip toy.generate/fast/n=1/t=1/warm on pdp11\n"));
	toy_variants[2].other_arch = NULL;
	assay_text_release(&out);
}

/* Numbers of threads that follow from the machine are in no manifest but as t=all. */
static void test_format_between(void **state)
{
	struct assay_case cases[] = { make_case("plain", "ref", 1, 1, false), make_case("plain", "ref", 1, 2, false),
				      make_case("plain", "ref", 1, 3, true) };
	struct assay_text out = { 0 };

	(void)state;
	cases[1].between_threads = true;
	assert_int_equal(assay_manifest_format("s", cases, N_OF(cases), &toy_catalog, &out, NULL), 0);
	assert_string_equal(strstr(out.s, "required plain"),
			    "required plain/ref/n=1/t=1/warm\nrequired plain/ref/n=1/t=all/warm\n");
	assay_text_release(&out);
}

/* Every *.manifest of a folder and nothing else. */
static void test_list(void **state)
{
	static const char *const names[] = { "b.manifest", "a.manifest", ".manifest", "x.conf" };
	struct assay_manifest_list l = { 0 };
	struct assay_err err = { 0 };
	struct bench_dir d;

	(void)state;
	bench_dir_make(&d);
	assert_int_equal(assay_manifest_list_load(&l, d.path, &err), 0);
	assert_int_equal(l.n, 0);
	bench_dir_write(&d, names[0], "required b/ref/-/t=1/warm\n");
	bench_dir_write(&d, names[1], "required a/ref/-/t=1/warm\n");
	bench_dir_write(&d, names[2], "no manifest\n");
	bench_dir_write(&d, names[3], "no manifest\n");
	assert_int_equal(assay_manifest_list_load(&l, d.path, &err), 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.v[0]->entries[0].key, "a/ref/-/t=1/warm");
	assert_string_equal(l.v[1]->entries[0].key, "b/ref/-/t=1/warm");
	assay_manifest_list_release(&l);
	bench_dir_write(&d, names[0], "maybe b/ref/-/t=1/warm\n");
	assert_int_equal(assay_manifest_list_load(&l, d.path, &err), ASSAY_EUSAGE);
	assert_int_equal(l.n, 0);
	bench_dir_remove(&d, names, 4);
	assert_int_equal(assay_manifest_list_load(&l, d.path, &err), 0);
	assert_int_equal(l.n, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_format_other_arch),
		cmocka_unit_test(test_format_between),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
