/* SPDX-License-Identifier: Apache-2.0 */
/* Every error of bench and suite files, with its file and line. */
#include "plan_fixture.h"

TEST(test_same_key_twice)
{
	static const char two[] =
		"bench \"a\" {\n op = \"plain\"\n}\nbench \"b\" {\n op = plain\n budget = \"%s\"\n}\n";
	struct assay_plan_options o = options(NULL, NULL);
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	char bench[256], text[600];

	snprintf(bench, sizeof(bench), two, "1s");
	assert_int_equal(plan_text(bench, USE_ALL, &o, &p, &err, text, sizeof(text)), 0);
	assert_int_equal(p.n_cases, 1);
	assay_plan_release(&p);
	snprintf(bench, sizeof(bench), two, "2s");
	assert_int_equal(plan_text(bench, USE_ALL, &o, &p, &err, text, sizeof(text)), ASSAY_EUSAGE);
	assert_string_equal(text,
			    "x.bench:4: bench 'b' plans case 'plain/ref/-/t=1/warm' with other limits than bench 'a' "
			    "in x.bench:1, give both the same budget, timeout and memory");
}

#define TOY(rest) "bench \"a\" {\n\top = \"toy.matmul\"\n" rest "\n}\n"
#define USE(rest) "suite \"s\" {\n\tuse \"a\" {\n" rest "\n\t}\n}\n"

static const struct {
	const char *bench, *suite, *only, *want;
} errors[] = {
	{ TOY("\tshapes = {\"m=1\"}"), ALL_AND("\texact \"canon\" { cases = {\"*/nothing/*\"} }"), NULL,
	  "suites/s.suite:3: exact \"canon\" selects none of the 4 cases of suite 's'" },
	{ TOY("\tshapes = {\"m=1\"}"), ALL_AND("\trounds = 0"), NULL,
	  "suites/s.suite:3: rounds is '0', expected a whole number from 1 to 20" },
	{ TOY("\tshapes = {\"m=1\"}"), ALL_AND("\trounds = often"), NULL,
	  "suites/s.suite:3: rounds is 'often', expected a whole number from 1 to 20" },
	{ TOY("\tshapes = {\"m=1\"}"), ALL_AND("\texact \"zen\" { cases = {\"*\"} }"), NULL,
	  "suites/s.suite:3: unknown cache model 'zen', expected canon or host" },
	{ TOY("\tshapes = {\"m=1\"}"), ALL_AND("\texact \"canon\" { }"), NULL,
	  "suites/s.suite:3: exact \"canon\" names no case, expected cases = {\"GLOB\"}" },
	{ TOY("\tshapes = {\"m=1\"}"),
	  ALL_AND("\texact \"canon\" { cases = {\"*\"} }\n\texact \"host\" { cases = {\"*\"} }"), NULL,
	  "suites/s.suite:4: exact cases are already named in line 3" },
	{ "bench \"a\" {\n\top = \"toy.matmull\"\n}", USE_ALL, NULL,
	  "x.bench:2: unknown op 'toy.matmull', did you mean 'toy.matmul'?" },
	{ "bench \"a\" {\n\top = \"nothing\"\n}", USE_ALL, NULL,
	  "x.bench:2: unknown op 'nothing', expected one of plain, toy.matmul, toy.generate, toy.rounds" },
	{ TOY("\n\tshapes = {\n\t\t\"m=1\",\n\t\t\"mm=2\"}"), USE_ALL, NULL,
	  "x.bench:6: op 'toy.matmul' has no axis 'mm', did you mean 'm'?" },
	{ TOY("\tshapes = {\"m=1,level=l4\"}"), USE_ALL, NULL,
	  "x.bench:3: axis 'level' does not take 'l4', did you mean 'l1'?" },
	{ TOY("\tshapes = {\"m=1025\"}"), USE_ALL, NULL, "x.bench:3: axis 'm' is 1025, expected 1 to 1024" },
	{ TOY("\tshapes = {\"m=-1\"}"), USE_ALL, NULL, "x.bench:3: axis 'm' is -1, expected 1 to 1024" },
	{ TOY("\tshapes = {\"m=1k\"}"), USE_ALL, NULL, "x.bench:3: axis 'm' is '1k', expected a whole number" },
	{ TOY("\tshapes = {\"m=99999999999999999999\"}"), USE_ALL, NULL,
	  "x.bench:3: axis 'm' is '99999999999999999999', expected a whole number" },
	{ TOY("\tshapes = {\"m=1,m=2\"}"), USE_ALL, NULL, "x.bench:3: axis 'm' is named twice in shape 'm=1,m=2'" },
	{ TOY("\tshapes = {\"m\"}"), USE_ALL, NULL, "x.bench:3: cannot read 'm' in shape 'm', expected axis=value" },
	{ TOY("\tshapes = {\"n=1\"}"), USE_ALL, NULL,
	  "x.bench:1: bench 'a' does not name axis 'm' of op 'toy.matmul' in shapes or sweep, and it has no default" },
	{ TOY("\tshapes = {\"m=1\"}\n\tsweep = {\"m=2,3\"}"), USE_ALL, NULL,
	  "x.bench:4: axis 'm' is swept, but a shape or another sweep binds it too" },
	{ TOY("\tsweep = {\"m=2,3\", \"m=4\"}"), USE_ALL, NULL,
	  "x.bench:3: axis 'm' is swept, but a shape or another sweep binds it too" },
	{ TOY("\tsweep = {\"2,3\"}"), USE_ALL, NULL, "x.bench:3: cannot read sweep '2,3', expected axis=value,value" },
	{ TOY("\tsweep = {\"m=2,,3\"}"), USE_ALL, NULL, "x.bench:3: axis 'm' is '', expected a whole number" },
	{ TOY("\tsweep = {\"m=2\"}\n\tvariants = {\"ref\",\n\"fas\"}"), USE_ALL, NULL,
	  "x.bench:5: op 'toy.matmul' has no variant 'fas', did you mean 'fast'?" },
	{ TOY("\tsweep = {\"m=2\"}\n\tvariants = {\"neon*\"}"), USE_ALL, NULL,
	  "x.bench:4: op 'toy.matmul' has no variant 'neon*', expected one of ref, fast, openblas, cuda" },
	{ TOY("\tsweep = {\"m=2\"}\n\tthreads = {\"0\"}"), USE_ALL, NULL,
	  "x.bench:4: threads is '0', expected numbers from 1 to 4096, 'all' or 'doubling' (1, 2, 4, ... all)" },
	{ TOY("\tsweep = {\"m=2\"}\n\tthreads = {\"two\"}"), USE_ALL, NULL,
	  "x.bench:4: threads is 'two', expected numbers from 1 to 4096, 'all' or 'doubling' (1, 2, 4, ... all)" },
	{ TOY("\tsweep = {\"m=2\"}\n\tcache = {\"hot\"}"), USE_ALL, NULL,
	  "x.bench:4: cache is 'hot', expected 'warm' or 'cold'" },
	{ TOY("\tsweep = {\"m=2\"}\n\tcache = {\"cold\", \"cold\"}"), USE_ALL, NULL,
	  "x.bench:4: cache names 'cold' twice" },
	{ TOY("\tsweep = {\"m=2\"}\n\tbudget = \"0s\""), USE_ALL, NULL,
	  "x.bench:4: budget is '0s', expected a time above 0 such as 500ms or 2s" },
	{ TOY("\tsweep = {\"m=2\"}\n\tbudget = \"3min\""), USE_ALL, NULL,
	  "x.bench:4: the budget of bench 'a', 180 s, does not fit its timeout, 120 s, expected budget < timeout" },
	{ TOY("\tbudgt = \"3min\""), USE_ALL, NULL, "x.bench:3: unknown key 'budgt', did you mean 'budget'?" },
	{ TOY("\tsweep = {\"m=2\"}"), "suite \"s\" {\n\n\tuse \"b\" { }\n}", NULL,
	  "suites/s.suite:3: no bench matches 'b', expected a" },
	{ TOY("\tsweep = {\"m=2\"}"), "suite \"t\" {\n\tuse \"a\" { }\n}", NULL,
	  "suites/s.suite:1: suite 't' in a file of another name, expected suite \"s\"" },
	{ TOY("\tsweep = {\"m=2\"}"), "suite \"s\" {\n}", NULL,
	  "suites/s.suite:1: suite 's' uses no bench, expected use \"GLOB\" { … }" },
	{ TOY("\tsweep = {\"m=2\"}"), USE("only = {\"*ref*\",\n\"*m=3*\"}"), NULL,
	  "suites/s.suite:4: '*m=3*' selects none of the 4 cases of 'a', such as "
	  "'toy.matmul/ref/m=2,n=1,level=l2/t=1/warm'" },
	{ TOY("\tsweep = {\"m=2\"}"), USE("skip = {\"*\"}"), NULL, "suites/s.suite:1: suite 's' selects no case" },
	{ TOY("\tsweep = {\"m=2\"}"), USE("\t\tvariants = {\"q\"}"), NULL,
	  "suites/s.suite:3: op 'toy.matmul' has no variant 'q', expected one of ref, fast, openblas, cuda" },
	{ TOY("\tsweep = {\"m=2\"}"), USE("\t\top = \"plain\""), NULL,
	  "suites/s.suite:3: unknown key 'op', expected one of only, skip, shapes, sweep, variants, threads, cache, "
	  "counters, exact_shapes, budget, timeout, memory, …" },
	{ TOY("\tsweep = {\"m=2\"}"), USE_ALL, "*m=3*",
	  "no case of suite 's' matches '*m=3*', expected a glob over keys such as "
	  "'toy.matmul/ref/m=2,n=1,level=l2/t=1/warm'" },
	{ TOY("\tsweep = {\"m=2\"}"), USE_ALL, "toy.matmol/*",
	  "no case of suite 's' matches 'toy.matmol/*', did you mean 'toy.matmul'?" },
	{ TOY("\tsweep = {\"m=2\"}"), USE_ALL, "*/fsat/*",
	  "no case of suite 's' matches '*/fsat/*', did you mean 'fast'?" },
	{ TOY("\tsweep = {\"m=2\"}"), USE_ALL, "toy.matmul/ref/m=7*",
	  "no case of suite 's' matches 'toy.matmul/ref/m=7*', expected a glob over keys such as "
	  "'toy.matmul/ref/m=2,n=1,level=l2/t=1/warm'" },
};

TEST(test_errors)
{
	for (size_t i = 0; i < N_OF(errors); i++) {
		struct assay_plan_options o = options(NULL, NULL);
		struct assay_plan p = { 0 };
		struct assay_err err = { 0 };
		char text[600];

		add_glob(&o, errors[i].only);
		assert_int_equal(plan_text(errors[i].bench, errors[i].suite, &o, &p, &err, text, sizeof(text)),
				 errors[i].only ? ASSAY_ENOTFOUND : ASSAY_EUSAGE);
		assert_string_equal(text, errors[i].want);
		assert_null(p.cases);
		assay_strings_release(&o.only);
	}
}

/* Nobody has to want to know why. */
TEST(test_no_folder_of_suites)
{
	struct assay_strings suites = { 0 };
	struct assay_err err = { 0 };

	assert_int_equal(assay_plan_suites("/nonexistent", &suites, NULL), ASSAY_EUSAGE);
	assert_int_equal(assay_plan_suites("/nonexistent", &suites, &err), ASSAY_EUSAGE);
	assert_int_equal(err.code, ASSAY_EUSAGE);
	assert_int_equal(suites.n, 0);
}

TEST(test_unknown_suite)
{
	static const char *const wrong[] = { "al", "nothing", "../good/suites/all", "" };
	static const char *const want[] = {
		"unknown suite 'al', did you mean 'all'?",
		"unknown suite 'nothing', expected one of all, some",
		"unknown suite '../good/suites/all', expected one of all, some",
		"unknown suite '', expected one of all, some",
	};

	for (size_t i = 0; i < N_OF(wrong); i++) {
		struct assay_plan_options o = options(GOOD, wrong[i]);
		struct assay_plan p = { 0 };
		struct assay_err err = { 0 };

		assert_int_equal(assay_plan_load(&p, &o, &toy_catalog, &err), ASSAY_ENOTFOUND);
		assert_string_equal(err.text, want[i]);
	}
}

UNIT_GROUP(NULL, NULL)
