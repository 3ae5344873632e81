/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests: what is read, what is refused, what is written for a plan, and which case an entry names. */
#include "judge_fixture.h"
#include "plan_fixture.h"

#include "base/arch.h"
#include "judge/manifest.h"

TEST(test_reads)
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

/* A line with lists names each combination of their words, in order, and all of them bear its line. */
TEST(test_lists)
{
	static const char text[] = "required a.{b,c}/ref/m={1,2},n=3/t={1,all}/warm\n"
				   "may-skip {d}.e/{x,y_z}/-/t=1/{warm,cold} on %s\n"
				   "optional a.b/{x,y}/-/t=1/warm on s390x\n";
	static const char *const want[] = {
		"a.b/ref/m=1,n=3/t=1/warm",   "a.b/ref/m=1,n=3/t=all/warm", "a.b/ref/m=2,n=3/t=1/warm",
		"a.b/ref/m=2,n=3/t=all/warm", "a.c/ref/m=1,n=3/t=1/warm",   "a.c/ref/m=1,n=3/t=all/warm",
		"a.c/ref/m=2,n=3/t=1/warm",   "a.c/ref/m=2,n=3/t=all/warm", "d.e/x/-/t=1/warm",
		"d.e/x/-/t=1/cold",           "d.e/y_z/-/t=1/warm",         "d.e/y_z/-/t=1/cold",
	};
	struct assay_manifest m;
	struct assay_err err = { 0 };
	struct text_file t;
	char file[512];

	snprintf(file, sizeof(file), text, assay_arch());
	text_file_write(&t, file);
	if (assay_manifest_load(&m, t.path, &err))
		fail_msg("%s", err.text);
	unlink(t.path);
	assert_int_equal(m.n_entries, N_OF(want) + (strcmp(assay_arch(), "s390x") ? 0 : 2));
	for (size_t i = 0; i < N_OF(want); i++) {
		assert_string_equal(m.entries[i].key, want[i]);
		assert_int_equal(m.entries[i].demand, i < 8 ? ASSAY_MANIFEST_REQUIRED : ASSAY_MANIFEST_MAY_SKIP);
		assert_int_equal(m.entries[i].line, i < 8 ? 1 : 2);
	}
	assay_manifest_release(&m);
}

/* Of imported cases neither threads nor caches may be known. */
TEST(test_every_key_can_be_named)
{
	static const char *const keys[] = { "A/hyperfine/-",
					    "BM_Copy/google-benchmark/arg1=64,n=8/t=2",
					    "BM_x/google-benchmark/t=4",
					    "a_b%2Fc/hyperfine/jobs=4",
					    "./a/b/hyperfine/-",
					    "m/ref/-/t=1/warm" };

	for (size_t i = 0; i < N_OF(keys); i++) {
		struct assay_manifest m;
		struct assay_err err = { 0 };
		struct text_file t;
		char text[128];

		snprintf(text, sizeof(text), "required %s\n", keys[i]);
		text_file_write(&t, text);
		if (assay_manifest_load(&m, t.path, &err))
			fail_msg("%s", err.text);
		unlink(t.path);
		assert_int_equal(m.n_entries, 1);
		assert_string_equal(m.entries[0].key, keys[i]);
		assay_manifest_release(&m);
	}
}

/* Whatever else a name has stands in quotes. */
TEST(test_quotes)
{
	static const struct {
		const char *line, *key;
	} cases[] = {
		{ "\"a b#c/hyperfine/-\" # why", "a b#c/hyperfine/-" },
		{ "\"{x}*?[y]/hyperfine/-\"", "{x}*?[y]/hyperfine/-" },
		{ "\"say \"\"a b\"\"/hyperfine/-\"#", "say \"a b\"/hyperfine/-" },
		{ "\"\"\"a\"\"/hyperfine/-\"", "\"a\"/hyperfine/-" },
		{ "\"b/hyperfine/-", "\"b/hyperfine/-" },
		{ "'b`\\$/hyperfine/-", "'b`\\$/hyperfine/-" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_manifest m;
		struct assay_err err = { 0 };
		struct text_file t;
		char text[128];

		snprintf(text, sizeof(text), "required %s\n", cases[i].line);
		text_file_write(&t, text);
		if (assay_manifest_load(&m, t.path, &err))
			fail_msg("%s: %s", cases[i].line, err.text);
		unlink(t.path);
		assert_int_equal(m.n_entries, 1);
		assert_string_equal(m.entries[0].key, cases[i].key);
		assay_manifest_release(&m);
	}
}

#define TEN          "{0,1,2,3,4,5,6,7,8,9}"
#define LETTERS      "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggghhhhhhhhhh"
#define HUNDREDS     LETTERS LETTERS LETTERS LETTERS LETTERS
#define MANY_LETTERS HUNDREDS HUNDREDS HUNDREDS

static const struct {
	const char *text, *want;
} errors[] = {
	{ "require a/b/-/t=1/warm", "1: unknown word 'require', did you mean 'required'?" },
	{ "\nskip a/b/-/t=1/warm", "2: unknown word 'skip', expected one of required, may-skip, optional" },
	{ "required", "1: '' is not a key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/b/t=1/warm", "1: 'a/b/t=1/warm' is not a key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/b/-/t=1/hot", "1: 'a/b/-/t=1/hot' is not a key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/b/-/t=/warm", "1: 'a/b/-/t=/warm' is not a key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/b/-/t=x/warm", "1: 'a/b/-/t=x/warm' is not a key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a//-/t=1/warm", "1: 'a//-/t=1/warm' is not a key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/b/-/t=1/warm x", "1: 'x' after the key, expected nothing or 'on ARCHITECTURE'" },
	{ "required a/b/-/t=1/warm on", "1: 'on' after the key, expected nothing or 'on ARCHITECTURE'" },
	{ "required a/b/-/t=1/warm on x86_64 y", "1: 'on' after the key, expected nothing or 'on ARCHITECTURE'" },
	{ "required a/b/-/t=1/warm on x86-64", "1: unknown architecture 'x86-64', did you mean 'x86_64'?" },
	{ "required a/b/-/t=1/warm\n#\nmay-skip a/b/-/t=1/warm", "3: 'a/b/-/t=1/warm' is already in line 1" },
	{ "required a/{b,c}/-/t=1/warm\nmay-skip {a,d}/b/-/t=1/warm", "2: 'a/b/-/t=1/warm' is already in line 1" },
	{ "required a/{b,b}/-/t=1/warm", "1: 'a/b/-/t=1/warm' is already in line 1" },
	{ "required a/*/-/t=1/warm", "1: 'a/*/-/t=1/warm' has a wildcard, expected the cases, as in t={1,all}" },
	{ "required a/avx?/-/t=1/warm", "1: 'a/avx?/-/t=1/warm' has a wildcard, expected the cases, as in t={1,all}" },
	{ "required a/[bc]/-/t=1/warm", "1: 'a/[bc]/-/t=1/warm' has a wildcard, expected the cases, as in t={1,all}" },
	{ "required a/b/-/t={1,x}/warm",
	  "1: 'a/b/-/t=x/warm' is not a key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/b/-/t=1/{warm,hot} on s390x",
	  "1: 'a/b/-/t=1/hot' is not a key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/b}/-/t=1/warm", "1: 'a/b}/-/t=1/warm' is not a key, expected op/variant/axis=value,…/t=N/warm" },
	{ "required a/{b,c/-/t=1/warm", "1: '{b,c/-/t=1/warm' is not a list, expected {one,another}" },
	{ "required a/{b, c}/-/t=1/warm", "1: 'c}/-/t=1/warm' after the key, expected nothing or 'on ARCHITECTURE'" },
	{ "required a/{b,{c}}/-/t=1/warm", "1: '{b,{c}}/-/t=1/warm' is not a list, expected {one,another}" },
	{ "required a/{b,}/-/t=1/warm", "1: 'a/{b,}/-/t=1/warm' has an empty word in a list" },
	{ "required a/{}/-/t=1/warm", "1: 'a/{}/-/t=1/warm' has an empty word in a list" },
	{ "required a/b/n=" TEN TEN TEN TEN TEN "/t=1/warm", "1: more than 10000 cases in one line" },
	{ "required a/b/n=" TEN TEN TEN TEN TEN "/t=1/warm on s390x", "1: more than 10000 cases in one line" },
	{ "required a/" MANY_LETTERS "/-/t=1/warm", "1: a key has more than 767 characters" },
	{ "# nothing\n", "1: the manifest names no case, expected 'required KEY' lines" },
	{ "", "1: the manifest names no case, expected 'required KEY' lines" },
};

TEST(test_errors)
{
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

/* The lines behind the comment that opens what was written. */
static const char *lines_of(const struct assay_text *t)
{
	return strstr(t->s, "only.\n") + strlen("only.\n");
}

/* A written manifest can be read again, and its demands follow from the catalog. */
TEST(test_format)
{
	static const struct {
		const char *op, *variant;
		unsigned threads;
		bool all;
		enum assay_manifest_demand want;
	} rows[] = {
		{ "plain", "ref", 1, false, ASSAY_MANIFEST_REQUIRED },
		{ "plain", "ref", 2, true, ASSAY_MANIFEST_REQUIRED },
		{ "plain", "ref", 2, false, ASSAY_MANIFEST_MAY_SKIP },
		{ "toy.matmul", "ref", 2, true, ASSAY_MANIFEST_MAY_SKIP },
		{ "toy.matmul", "fast", 1, false, ASSAY_MANIFEST_MAY_SKIP },
		{ "toy.matmul", "openblas", 1, false, ASSAY_MANIFEST_OPTIONAL },
		{ "toy.matmul", "cuda", 1, false, ASSAY_MANIFEST_OPTIONAL },
		{ "toy.generate", "fast", 1, false, ASSAY_MANIFEST_MAY_SKIP },
		/* on one core */
		{ "toy.generate", "ref", 1, true, ASSAY_MANIFEST_REQUIRED },
	};
	struct assay_case cases[N_OF(rows)];
	struct assay_text out = { 0 };
	struct assay_manifest m;
	struct text_file t;
	char want[512];

	for (size_t i = 0; i < N_OF(rows); i++)
		cases[i] = make_case(rows[i].op, rows[i].variant, 1, rows[i].threads, rows[i].all);
	assert_int_equal(assay_manifest_format("s", cases, N_OF(rows), &toy_catalog, &out, NULL), 0);
	snprintf(want, sizeof(want),
		 "required plain/ref/n=1/t={1,all}/warm\n"
		 "may-skip plain/ref/n=1/t=2/warm\n"
		 "may-skip toy.matmul/ref/n=1/t=all/warm\n"
		 "may-skip toy.{matmul,generate}/fast/n=1/t=1/warm on %s\n"
		 "optional toy.matmul/{openblas,cuda}/n=1/t=1/warm\n"
		 "required toy.generate/ref/n=1/t=1/warm\n",
		 assay_arch());
	assert_string_equal(lines_of(&out), want);
	text_file_write(&t, out.s);
	assert_int_equal(assay_manifest_load(&m, t.path, NULL), 0);
	unlink(t.path);
	assert_int_equal(m.n_entries, N_OF(rows));
	for (size_t i = 0; i < N_OF(rows); i++) {
		size_t k = 0;

		while (k < m.n_entries && !assay_manifest_matches(&m.entries[k], &cases[i]))
			k++;
		assert_true(k < m.n_entries);
		assert_int_equal(m.entries[k].demand, rows[i].want);
	}
	assay_manifest_release(&m);
	assay_text_release(&out);
}

/* Lists are made only of what differs in one word, so that no line stands for a case that was not planned. */
TEST(test_format_lists)
{
	static const struct {
		const char *variant;
		int64_t n;
		unsigned threads;
	} rows[] = { { "a", 1, 1 }, { "b", 1, 1 }, { "a", 2, 1 }, { "b", 2, 1 }, { "c", 3, 1 },
		     { "a", 1, 4 }, { "b", 1, 4 }, { "a", 2, 4 }, { "b", 2, 4 }, { "d", 4, 1 } };
	struct assay_case cases[N_OF(rows)];
	struct assay_text out = { 0 };

	for (size_t i = 0; i < N_OF(rows); i++)
		cases[i] = make_case("plain", rows[i].variant, rows[i].n, rows[i].threads, rows[i].threads > 1);
	assert_int_equal(assay_manifest_format("s", cases, N_OF(rows), &toy_catalog, &out, NULL), 0);
	assert_string_equal(lines_of(&out), "required plain/{a,b}/n={1,2}/t={1,all}/warm\n"
					    "required plain/c/n=3/t=1/warm\n"
					    "required plain/d/n=4/t=1/warm\n");
	assay_text_release(&out);
}

/* Demands on a variant for another architecture count there. */
TEST(test_format_other_arch)
{
	const struct assay_case cases[] = { make_case("toy.matmul", "fast", 1, 1, false),
					    make_case("toy.generate", "fast", 1, 1, false) };
	struct assay_text out = { 0 };

	toy_variants[2].other_arch = "pdp11";
	assert_int_equal(assay_manifest_format("s", cases, N_OF(cases), &toy_catalog, &out, NULL), 0);
	assert_string_equal(lines_of(&out), "may-skip toy.{matmul,generate}/fast/n=1/t=1/warm on pdp11\n");
	toy_variants[2].other_arch = NULL;
	assay_text_release(&out);
}

/* Numbers of threads that follow from the machine are in no manifest but as t=all. */
TEST(test_format_between)
{
	struct assay_case cases[] = { make_case("plain", "ref", 1, 1, false), make_case("plain", "ref", 1, 2, false),
				      make_case("plain", "ref", 1, 3, true) };
	struct assay_text out = { 0 };

	cases[1].between_threads = true;
	assert_int_equal(assay_manifest_format("s", cases, N_OF(cases), &toy_catalog, &out, NULL), 0);
	assert_string_equal(lines_of(&out), "required plain/ref/n=1/t={1,all}/warm\n");
	assay_text_release(&out);
}

/* On one core t=all and t=1 are one case, planned as t=1. */
TEST(test_names)
{
	static const struct {
		const char *key;
		unsigned threads;
		bool all;
		unsigned all_threads;
		bool names, of_variant;
	} rows[] = {
		{ "op/ref/n=1/t=1/warm", 1, false, 2, true, true },
		{ "op/ref/n=1/t=all/warm", 1, false, 1, true, true },
		{ "op/ref/n=1/t=all/warm", 1, false, 2, false, true },
		{ "op/ref/n=1/t=all/warm", 2, false, 1, false, true },
		{ "op/ref/n=1/t=all/warm", 2, true, 2, true, true },
		{ "op/ref/n=2/t=all/warm", 1, false, 1, false, true },
		{ "op/re/n=1/t=1/warm", 1, false, 1, false, false },
		{ "op/reff/n=1/t=1/warm", 1, false, 1, false, false },
		{ "opp/ref/n=1/t=1/warm", 1, false, 1, false, false },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_case c = make_case("op", "ref", 1, rows[i].threads, rows[i].all);
		struct assay_manifest_entry e = { .line = 1 };

		snprintf(e.key, sizeof(e.key), "%s", rows[i].key);
		if (assay_manifest_names(&e, &c, rows[i].all_threads) != rows[i].names ||
		    assay_manifest_of_variant(&e, &c) != rows[i].of_variant)
			fail_msg("%zu: %s", i, rows[i].key);
	}
}

/* Every *.manifest of a folder and nothing else. */
TEST(test_list)
{
	static const char *const names[] = { "b.manifest", "a.manifest", ".manifest", "x.conf" };
	struct assay_manifest_list l = { 0 };
	struct assay_err err = { 0 };
	struct bench_dir d;

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

UNIT_GROUP(NULL, NULL)
