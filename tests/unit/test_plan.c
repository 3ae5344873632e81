/* SPDX-License-Identifier: Apache-2.0 */
/* From bench and suite files to cases: keys, order, limits, reasons to skip, and every error with its file and line. */
#include "machine/topology.h"
#include "plan_fixture.h"

#define GOOD ASSAY_FIXTURES "/plan/good"

static struct assay_plan_options options(const char *dir, const char *suite)
{
	return (struct assay_plan_options){ .bench_dir = dir, .suite = suite, .all_threads = 2 };
}

static void assert_keys(const struct assay_plan *p, const char *const *want, size_t n)
{
	for (size_t i = 0; i < p->n_cases && i < n; i++)
		assert_string_equal(p->cases[i].key, want[i]);
	assert_int_equal(p->n_cases, n);
}

static const struct assay_case *find(const struct assay_plan *p, const char *key)
{
	for (size_t i = 0; i < p->n_cases; i++)
		if (!strcmp(p->cases[i].key, key))
			return &p->cases[i];
	fail_msg("no case %s", key);
	return NULL;
}

static const struct assay_strings *one_glob(const char *glob, struct assay_strings *only)
{
	if (glob)
		assert_int_equal(assay_strings_add(only, glob, NULL), 0);
	return only;
}

static void test_whole_suite(void **state)
{
	static const char *const want[] = {
		"plain/ref/-/t=1/warm",
		"toy.matmul/ref/m=64,n=1,level=l2/t=1/warm",
		"toy.matmul/fast/m=64,n=1,level=l2/t=1/warm",
		"toy.matmul/openblas/m=64,n=1,level=l2/t=1/warm",
		"toy.matmul/cuda/m=64,n=1,level=l2/t=1/warm",
		"toy.matmul/fast/m=64,n=1,level=l2/t=2/warm",
		"toy.matmul/openblas/m=64,n=1,level=l2/t=2/warm",
		"toy.matmul/cuda/m=64,n=1,level=l2/t=2/warm",
		"toy.matmul/ref/m=128,n=2,level=l2/t=1/warm",
		"toy.matmul/fast/m=128,n=2,level=l2/t=1/warm",
		"toy.matmul/openblas/m=128,n=2,level=l2/t=1/warm",
		"toy.matmul/cuda/m=128,n=2,level=l2/t=1/warm",
		"toy.matmul/fast/m=128,n=2,level=l2/t=2/warm",
		"toy.matmul/openblas/m=128,n=2,level=l2/t=2/warm",
		"toy.matmul/cuda/m=128,n=2,level=l2/t=2/warm",
		"toy.matmul/fast/m=64,n=1,level=l1/t=1/warm",
		"toy.matmul/fast/m=64,n=1,level=l1/t=1/cold",
		"toy.matmul/fast/m=64,n=1,level=dram/t=1/warm",
		"toy.matmul/fast/m=64,n=1,level=dram/t=1/cold",
		"toy.matmul/fast/m=64,n=4,level=l1/t=1/warm",
		"toy.matmul/fast/m=64,n=4,level=l1/t=1/cold",
		"toy.matmul/fast/m=64,n=4,level=dram/t=1/warm",
		"toy.matmul/fast/m=64,n=4,level=dram/t=1/cold",
	};
	struct assay_plan_options o = options(GOOD, "all");
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	const struct assay_case *c;

	(void)state;
	if (assay_plan_load(&p, &o, &toy_catalog, &err))
		fail_msg("%s", err.text);
	assert_string_equal(p.suite, "all");
	assert_keys(&p, want, N_OF(want));

	c = find(&p, "plain/ref/-/t=1/warm");
	assert_true(c->budget_ns == 1000000000ull);
	assert_true(c->timeout_ns == 120000000000ull);
	assert_true(c->memory_bytes == 0);
	assert_string_equal(c->skip_reason, "");
	assert_int_equal(c->n_axes, 0);

	c = find(&p, "toy.matmul/cuda/m=64,n=1,level=l2/t=2/warm");
	assert_true(c->budget_ns == 200000000ull);
	assert_true(c->timeout_ns == 10000000000ull);
	assert_true(c->memory_bytes == 1ull << 30);
	assert_true(c->all_threads);
	assert_int_equal(c->threads, 2);
	assert_string_equal(c->skip_reason, "no CUDA device");
	assert_string_equal(c->axes[2].text, "l2");
	assert_int_equal(c->axes[2].value, 1);
	assert_false(find(&p, "toy.matmul/fast/m=64,n=1,level=l2/t=1/warm")->all_threads);
	assert_int_equal(find(&p, "toy.matmul/fast/m=64,n=4,level=dram/t=1/cold")->cache, ASSAY_CACHE_COLD);
	assay_plan_release(&p);
}

static void test_part_of_a_bench(void **state)
{
	static const char *const want[] = {
		"toy.matmul/ref/m=64,n=1,level=l2/t=1/warm",       "toy.matmul/fast/m=64,n=1,level=l2/t=1/warm",
		"toy.matmul/openblas/m=64,n=1,level=l2/t=1/warm",  "toy.matmul/fast/m=64,n=1,level=l2/t=2/warm",
		"toy.matmul/openblas/m=64,n=1,level=l2/t=2/warm",  "toy.matmul/fast/m=128,n=2,level=l2/t=2/warm",
		"toy.matmul/openblas/m=128,n=2,level=l2/t=2/warm", "toy.matmul/ref/m=256,n=1,level=l2/t=1/warm",
	};
	struct assay_plan_options o = options(GOOD, "some");
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };

	(void)state;
	if (assay_plan_load(&p, &o, &toy_catalog, &err))
		fail_msg("%s", err.text);
	assert_keys(&p, want, N_OF(want));
	assert_true(p.cases[0].budget_ns == 50000000ull);
	assert_true(p.cases[0].timeout_ns == 10000000000ull);
	assert_true(p.cases[7].budget_ns == 200000000ull);
	assay_plan_release(&p);
}

static void test_one_core(void **state)
{
	static const char *const want[] = {
		"toy.matmul/ref/m=64,n=1,level=l2/t=1/warm",      "toy.matmul/fast/m=64,n=1,level=l2/t=1/warm",
		"toy.matmul/openblas/m=64,n=1,level=l2/t=1/warm", "toy.matmul/ref/m=128,n=2,level=l2/t=1/warm",
		"toy.matmul/fast/m=128,n=2,level=l2/t=1/warm",    "toy.matmul/openblas/m=128,n=2,level=l2/t=1/warm",
		"toy.matmul/ref/m=256,n=1,level=l2/t=1/warm",
	};
	struct assay_plan_options o = options(GOOD, "some");
	struct assay_err err = { 0 };
	struct assay_plan p = { 0 };

	(void)state;
	/* t=1 and t=all are one case, which globs over either name select. */
	o.all_threads = 1;
	if (assay_plan_load(&p, &o, &toy_catalog, &err))
		fail_msg("%s", err.text);
	assert_keys(&p, want, N_OF(want));
	for (size_t i = 0; i < p.n_cases; i++) {
		assert_false(p.cases[i].all_threads);
		assert_string_equal(p.cases[i].skip_reason, "");
	}
	assay_plan_release(&p);
}

static void test_options(void **state)
{
	static const unsigned threads[] = { 0, 2, 1 };
	static const char *const want[] = {
		"plain/ref/-/t=4/warm",
		"plain/ref/-/t=2/warm",
		"plain/ref/-/t=1/warm",
	};
	struct assay_plan_options o = options(GOOD, "all");
	struct assay_plan p = { 0 };
	const struct assay_case *c;

	(void)state;
	o.all_threads = 4;
	o.threads = threads;
	o.n_threads = N_OF(threads);
	o.budget_ns = 300000000000ull;
	o.memory_bytes = 4096;
	assert_int_equal(assay_plan_load(&p, &o, &toy_catalog, NULL), 0);
	for (size_t i = 0; i < N_OF(want); i++)
		assert_string_equal(p.cases[i].key, want[i]);
	assert_true(p.cases[0].all_threads);
	assert_false(p.cases[1].all_threads);
	assert_true(p.cases[0].budget_ns == 300000000000ull);
	/* 299 s more than the file's budget: so much more until it times out. */
	assert_true(p.cases[0].timeout_ns == 419000000000ull);
	assert_true(p.cases[0].memory_bytes == 4096);

	c = find(&p, "toy.matmul/ref/m=64,n=1,level=l2/t=2/warm");
	assert_string_equal(c->skip_reason, "runs on one thread only");
	for (size_t i = 0; i < p.n_cases; i++)
		assert_false(p.cases[i].threads == 4 && !strcmp(p.cases[i].variant, "ref") && p.cases[i].n_axes);
	assay_plan_release(&p);
}

static void test_suites(void **state)
{
	struct assay_strings names = { 0 };
	struct assay_err err = { 0 };

	(void)state;
	assert_int_equal(assay_plan_suites(GOOD, &names, &err), 0);
	assert_int_equal(names.n, 2);
	assert_string_equal(names.v[0], "all");
	assert_string_equal(names.v[1], "some");
	assay_strings_release(&names);
	assert_int_equal(assay_plan_suites("/nowhere", &names, &err), ASSAY_EUSAGE);
	assay_strings_release(&names);
}

/* Plan one bench and one suite written as text. */
static int plan_text(const char *bench, const char *suite, const struct assay_plan_options *given, struct assay_plan *p,
		     struct assay_err *err, char *text, size_t size)
{
	static const char *const names[] = { "x.bench", "suites/s.suite" };
	struct assay_plan_options o = *given;
	struct bench_dir d;
	char *at;
	int rc;

	bench_dir_make(&d);
	bench_dir_write(&d, names[0], bench);
	bench_dir_write(&d, names[1], suite);
	o.bench_dir = d.path;
	o.suite = "s";
	rc = assay_plan_load(p, &o, &toy_catalog, err);
	bench_dir_remove(&d, names, 2);

	/* The folder's random name does not belong to what is tested. */
	text[0] = '\0';
	for (at = err->text; *at && strlen(text) + 1 < size; at++) {
		if (!strncmp(at, d.path, strlen(d.path)))
			at += strlen(d.path) + 1;
		snprintf(text + strlen(text), size - strlen(text), "%c", *at);
	}
	return rc;
}

static const char use_all[] = "suite \"s\" {\n\tuse \"*\" { }\n}\n";

static void test_skip_reasons(void **state)
{
	struct assay_plan_options o = options(NULL, NULL);
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	char text[600];

	(void)state;
	assert_int_equal(plan_text("bench \"a\" {\n op = \"toy.matmul\"\n shapes = {\"m=1\"}\n threads = {\"4\", "
				   "\"2\", \"all\"}\n}",
				   use_all, &o, &p, &err, text, sizeof(text)),
			 0);
	assert_string_equal(find(&p, "toy.matmul/fast/m=1,n=1,level=l2/t=4/warm")->skip_reason,
			    "needs 4 threads, 2 allowed here");
	assert_string_equal(find(&p, "toy.matmul/ref/m=1,n=1,level=l2/t=4/warm")->skip_reason,
			    "runs on one thread only");
	assert_string_equal(find(&p, "toy.matmul/ref/m=1,n=1,level=l2/t=2/warm")->skip_reason,
			    "runs on one thread only");
	/* "2" and "all" are one case here, and it counts as both. */
	assert_true(find(&p, "toy.matmul/fast/m=1,n=1,level=l2/t=2/warm")->all_threads);
	assert_int_equal(p.n_cases, 8);
	assay_plan_release(&p);
}

/* What any of the globs selects, each case once and in the order of the suite; a glob that selects nothing is named. */
static void test_several_globs(void **state)
{
	static const char bench[] =
		"bench \"a\" {\n op = \"toy.matmul\"\n shapes = {\"m=1\", \"m=2\"}\n threads = {\"1\"}\n}";
	static const char *const want[] = {
		"toy.matmul/ref/m=1,n=1,level=l2/t=1/warm",
		"toy.matmul/fast/m=1,n=1,level=l2/t=1/warm",
		"toy.matmul/fast/m=2,n=1,level=l2/t=1/warm",
	};
	struct assay_plan_options o = options(NULL, NULL);
	struct assay_strings only = { 0 };
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	char text[600];

	(void)state;
	o.only = &only;
	assay_strings_add(&only, "*/fast/*", NULL);
	assay_strings_add(&only, want[0], NULL);
	assay_strings_add(&only, "fast/m=2", NULL);
	assert_int_equal(plan_text(bench, use_all, &o, &p, &err, text, sizeof(text)), 0);
	assert_keys(&p, want, N_OF(want));
	assay_plan_release(&p);

	assay_strings_add(&only, "*/m=3,*", NULL);
	assay_strings_add(&only, "*/fast/*", NULL);
	assert_int_equal(plan_text(bench, use_all, &o, &p, &err, text, sizeof(text)), ASSAY_EUSAGE);
	assert_string_equal(text, "no case of suite 's' matches '*/m=3,*', expected a glob over keys such as "
				  "'toy.matmul/ref/m=1,n=1,level=l2/t=1/warm'");
	assay_strings_release(&only);
}

/* Variants of another architecture count as known, and are planned only by a glob that selects no others. */
static void test_other_arch(void **state)
{
	static const char bench[] = "bench \"a\" {\n op = \"toy.matmul\"\n shapes = {\"m=1\", \"m=2\"}\n"
				    " variants = {\"fast\", \"openblas\"}\n threads = {\"1\"}\n}";
	static const struct {
		const char *suite, *globs[2];
		const char *keys[3];
	} rows[] = {
		{ use_all, { NULL }, { "openblas/m=1", "openblas/m=2" } },
		{ use_all, { "*" }, { "openblas/m=1", "openblas/m=2" } },
		{ use_all, { "*/fast/*" }, { "fast/m=1", "fast/m=2" } },
		{ use_all, { "toy.matmul/fast/m=2,n=1,level=l2/t=1/warm" }, { "fast/m=2" } },
		{ use_all, { "*/m=1,*", "fast" }, { "fast/m=1", "openblas/m=1", "fast/m=2" } },
		{ "suite \"s\" {\n use \"*\" { only = {\"*/fast/*\", \"*/m=2,*\"} }\n}\n",
		  { NULL },
		  { "openblas/m=2" } },
		{ "suite \"s\" {\n use \"*\" { only = {\"*/fast/*\"} }\n}\n", { NULL }, { NULL } },
	};

	(void)state;
	toy_variants[2].other_arch = "pdp11";
	toy_variants[2].unavailable = TEXT("built for pdp11");
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_plan_options o = options(NULL, NULL);
		struct assay_strings only = { 0 };
		struct assay_plan p = { 0 };
		struct assay_err err = { 0 };
		char text[600];
		size_t n = 0;

		for (size_t g = 0; g < N_OF(rows[i].globs); g++)
			o.only = one_glob(rows[i].globs[g], &only);
		assert_int_equal(plan_text(bench, rows[i].suite, &o, &p, &err, text, sizeof(text)),
				 rows[i].keys[0] ? 0 : ASSAY_EUSAGE);
		for (; n < N_OF(rows[i].keys) && rows[i].keys[n]; n++) {
			const struct assay_case *c = &p.cases[n];

			assert_true(n < p.n_cases && strstr(c->key, rows[i].keys[n]));
			assert_string_equal(c->skip_reason, strstr(c->key, "/fast/") ? "built for pdp11" : "");
		}
		assert_int_equal(p.n_cases, n);
		if (!n)
			assert_string_equal(
				text, "suites/s.suite:1: all cases of suite 's' are for another architecture, such as "
				      "'toy.matmul/fast/m=1,n=1,level=l2/t=1/warm'");
		assay_plan_release(&p);
		assay_strings_release(&only);
	}
	toy_variants[2].other_arch = NULL;
	toy_variants[2].unavailable = NULL;
}

/*
 * "doubling" on machines of several sizes, one thread a core unless told, and beside numbers that the bench names
 * itself.
 */
static void test_doubling(void **state)
{
	static const unsigned option[] = { ASSAY_THREADS_DOUBLING, 3 };
	static const struct {
		const char *machine;
		bool smt, option;
		const char *threads, *want; /* "+" before what only this machine has between 1 and all */
	} rows[] = {
		{ "one-core", false, false, "\"doubling\"", " 1" },
		{ "cpuset-4-7", false, false, "\"doubling\"", " 1 +2 4=all" },
		{ "hybrid", false, false, "\"doubling\"", " 1 +2 +4 +8 12=all" },
		{ "hybrid", true, false, "\"doubling\"", " 1 +2 +4 +8 16=all" },
		{ "two-sockets", true, false, "\"doubling\"", " 1 +2 +4 +8 +16 32=all" },
		{ "hybrid", false, false, "\"4\", \"doubling\", \"12\"", " 4 1 +2 +8 12=all" },
		{ "hybrid", false, true, "\"1\"", " 1 +2 +4 +8 12=all 3" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_placement_options placement = { .smt = rows[i].smt };
		struct assay_plan_options o = options(NULL, NULL);
		struct assay_topology *t = NULL;
		struct assay_plan p = { 0 };
		struct assay_err err = { 0 };
		char path[128], bench[256], text[600], got[128] = "";

		snprintf(path, sizeof(path), ASSAY_FIXTURES "/topology/%s.xml", rows[i].machine);
		assert_int_equal(assay_topology_open(&t, path, NULL), 0);
		o.all_threads = (unsigned)assay_placement_max(t, &placement);
		assay_topology_close(t);
		o.threads = option;
		o.n_threads = rows[i].option ? N_OF(option) : 0;
		/* ref runs on one thread only: it has the case at t=1, and at what the bench names */
		snprintf(bench, sizeof(bench),
			 "bench \"a\" {\n op = \"toy.matmul\"\n shapes = {\"m=1\"}\n variants = {\"ref\", \"fast\"}\n"
			 " threads = {%s}\n}",
			 rows[i].threads);
		assert_int_equal(plan_text(bench, use_all, &o, &p, &err, text, sizeof(text)), 0);
		for (size_t k = 0; k < p.n_cases; k++) {
			const struct assay_case *c = &p.cases[k];

			if (!strcmp(c->variant, "ref"))
				assert_true(!c->between_threads && !c->all_threads);
			else
				snprintf(got + strlen(got), sizeof(got) - strlen(got), " %s%u%s",
					 c->between_threads ? "+" : "", c->threads, c->all_threads ? "=all" : "");
		}
		assert_string_equal(got, rows[i].want);
		assay_plan_release(&p);
	}
}

#define EXACT(section) "suite \"s\" {\n\tuse \"*\" { }\n" section "\n}\n"

/* Which cases are counted, and with which caches; also when --only leaves some out. */
static void test_exact_cases(void **state)
{
	static const char bench[] =
		"bench \"a\" {\n op = \"toy.matmul\"\n shapes = {\"m=1\", \"m=2\"}\n threads = {\"1\"}\n}";
	static const struct {
		const char *suite, *only, *model;
		size_t n, n_exact;
	} cases[] = {
		{ use_all, NULL, "", 8, 0 },
		{ EXACT("\texact \"canon\" { cases = {\"*/fast/*\"} }"), NULL, "canon", 8, 2 },
		{ EXACT("\texact \"host\" { cases = {\"*/fast/m=1,*\", \"*/ref/*\"} }"), NULL, "host", 8, 3 },
		/* a glob may stand for a variant that is not built everywhere */
		{ EXACT("\texact \"canon\" { cases = {\"*/neon/*\", \"*/fast/*\"} }"), NULL, "canon", 8, 2 },
		{ EXACT("\texact \"canon\" { cases = {\"*/fast/*\"} }"), "m=1,", "canon", 4, 1 },
		{ EXACT("\texact \"canon\" { cases = {\"*/fast/*\"} }"), "*/ref/*", "canon", 2, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_plan_options o = options(NULL, NULL);
		struct assay_plan p = { 0 };
		struct assay_err err = { 0 };
		struct assay_strings only = { 0 };
		size_t n_exact = 0;
		char text[600];

		o.only = one_glob(cases[i].only, &only);
		if (plan_text(bench, cases[i].suite, &o, &p, &err, text, sizeof(text)))
			fail_msg("row %zu: %s", i, text);
		for (size_t k = 0; k < p.n_cases; k++)
			n_exact += p.exact[k];
		assert_string_equal(p.exact_model, cases[i].model);
		assert_int_equal(p.n_cases, cases[i].n);
		assert_int_equal(n_exact, cases[i].n_exact);
		for (size_t k = 0; k < p.n_cases && i == 1; k++)
			assert_int_equal(p.exact[k], !strcmp(p.cases[k].variant, "fast"));
		assay_plan_release(&p);
		assay_strings_release(&only);
	}
}

static void test_batch_size(void **state)
{
	static const char bench[] = "bench \"a\" {\n op = \"toy.generate\"\n sweep = {\"batch=1,8\"}\n}";
	static const char *const want[] = { "toy.generate/ref/batch=4/t=1/warm" };
	struct assay_plan_options o = options(NULL, NULL);
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	char text[600];

	(void)state;
	o.batch_size = 4;
	assert_int_equal(plan_text(bench, use_all, &o, &p, &err, text, sizeof(text)), 0);
	assert_keys(&p, want, 1);
	assay_plan_release(&p);
	o.batch_size = 65;
	assert_int_equal(plan_text(bench, use_all, &o, &p, &err, text, sizeof(text)), ASSAY_EUSAGE);
	assert_string_equal(text, "batch size 65 does not fit op 'toy.generate', expected 1 to 64");
}

static void test_same_key_twice(void **state)
{
	static const char two[] =
		"bench \"a\" {\n op = \"plain\"\n}\nbench \"b\" {\n op = plain\n budget = \"%s\"\n}\n";
	struct assay_plan_options o = options(NULL, NULL);
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	char bench[256], text[600];

	(void)state;
	snprintf(bench, sizeof(bench), two, "1s");
	assert_int_equal(plan_text(bench, use_all, &o, &p, &err, text, sizeof(text)), 0);
	assert_int_equal(p.n_cases, 1);
	assay_plan_release(&p);
	snprintf(bench, sizeof(bench), two, "2s");
	assert_int_equal(plan_text(bench, use_all, &o, &p, &err, text, sizeof(text)), ASSAY_EUSAGE);
	assert_string_equal(text,
			    "x.bench:4: bench 'b' plans case 'plain/ref/-/t=1/warm' with other limits than bench 'a' "
			    "in x.bench:1, give both the same budget, timeout and memory");
}

#define TOY(rest) "bench \"a\" {\n\top = \"toy.matmul\"\n" rest "\n}\n"
#define USE(rest) "suite \"s\" {\n\tuse \"a\" {\n" rest "\n\t}\n}\n"

static const struct {
	const char *bench, *suite, *only, *want;
} errors[] = {
	{ TOY("\tshapes = {\"m=1\"}"), EXACT("\texact \"canon\" { cases = {\"*/nothing/*\"} }"), NULL,
	  "suites/s.suite:3: exact \"canon\" selects none of the 4 cases of suite 's'" },
	{ TOY("\tshapes = {\"m=1\"}"), EXACT("\trounds = 0"), NULL,
	  "suites/s.suite:3: rounds is '0', expected a whole number from 1 to 20" },
	{ TOY("\tshapes = {\"m=1\"}"), EXACT("\trounds = often"), NULL,
	  "suites/s.suite:3: rounds is 'often', expected a whole number from 1 to 20" },
	{ TOY("\tshapes = {\"m=1\"}"), EXACT("\texact \"zen\" { cases = {\"*\"} }"), NULL,
	  "suites/s.suite:3: unknown cache model 'zen', expected canon or host" },
	{ TOY("\tshapes = {\"m=1\"}"), EXACT("\texact \"canon\" { }"), NULL,
	  "suites/s.suite:3: exact \"canon\" names no case, expected cases = {\"GLOB\"}" },
	{ TOY("\tshapes = {\"m=1\"}"),
	  EXACT("\texact \"canon\" { cases = {\"*\"} }\n\texact \"host\" { cases = {\"*\"} }"), NULL,
	  "suites/s.suite:4: exact cases are already named in line 3" },
	{ "bench \"a\" {\n\top = \"toy.matmull\"\n}", use_all, NULL,
	  "x.bench:2: unknown op 'toy.matmull', did you mean 'toy.matmul'?" },
	{ "bench \"a\" {\n\top = \"nothing\"\n}", use_all, NULL,
	  "x.bench:2: unknown op 'nothing', expected one of plain, toy.matmul, toy.generate" },
	{ TOY("\n\tshapes = {\n\t\t\"m=1\",\n\t\t\"mm=2\"}"), use_all, NULL,
	  "x.bench:6: op 'toy.matmul' has no axis 'mm', did you mean 'm'?" },
	{ TOY("\tshapes = {\"m=1,level=l4\"}"), use_all, NULL,
	  "x.bench:3: axis 'level' does not take 'l4', did you mean 'l1'?" },
	{ TOY("\tshapes = {\"m=1025\"}"), use_all, NULL, "x.bench:3: axis 'm' is 1025, expected 1 to 1024" },
	{ TOY("\tshapes = {\"m=-1\"}"), use_all, NULL, "x.bench:3: axis 'm' is -1, expected 1 to 1024" },
	{ TOY("\tshapes = {\"m=1k\"}"), use_all, NULL, "x.bench:3: axis 'm' is '1k', expected a whole number" },
	{ TOY("\tshapes = {\"m=99999999999999999999\"}"), use_all, NULL,
	  "x.bench:3: axis 'm' is '99999999999999999999', expected a whole number" },
	{ TOY("\tshapes = {\"m=1,m=2\"}"), use_all, NULL, "x.bench:3: axis 'm' is named twice in shape 'm=1,m=2'" },
	{ TOY("\tshapes = {\"m\"}"), use_all, NULL, "x.bench:3: cannot read 'm' in shape 'm', expected axis=value" },
	{ TOY("\tshapes = {\"n=1\"}"), use_all, NULL,
	  "x.bench:1: bench 'a' does not name axis 'm' of op 'toy.matmul' in shapes or sweep, and it has no default" },
	{ TOY("\tshapes = {\"m=1\"}\n\tsweep = {\"m=2,3\"}"), use_all, NULL,
	  "x.bench:4: axis 'm' is swept, but a shape or another sweep binds it too" },
	{ TOY("\tsweep = {\"m=2,3\", \"m=4\"}"), use_all, NULL,
	  "x.bench:3: axis 'm' is swept, but a shape or another sweep binds it too" },
	{ TOY("\tsweep = {\"2,3\"}"), use_all, NULL, "x.bench:3: cannot read sweep '2,3', expected axis=value,value" },
	{ TOY("\tsweep = {\"m=2,,3\"}"), use_all, NULL, "x.bench:3: axis 'm' is '', expected a whole number" },
	{ TOY("\tsweep = {\"m=2\"}\n\tvariants = {\"ref\",\n\"fas\"}"), use_all, NULL,
	  "x.bench:5: op 'toy.matmul' has no variant 'fas', did you mean 'fast'?" },
	{ TOY("\tsweep = {\"m=2\"}\n\tvariants = {\"neon*\"}"), use_all, NULL,
	  "x.bench:4: op 'toy.matmul' has no variant 'neon*', expected one of ref, fast, openblas, cuda" },
	{ TOY("\tsweep = {\"m=2\"}\n\tthreads = {\"0\"}"), use_all, NULL,
	  "x.bench:4: threads is '0', expected numbers from 1 to 4096, 'all' or 'doubling' (1, 2, 4, ... all)" },
	{ TOY("\tsweep = {\"m=2\"}\n\tthreads = {\"two\"}"), use_all, NULL,
	  "x.bench:4: threads is 'two', expected numbers from 1 to 4096, 'all' or 'doubling' (1, 2, 4, ... all)" },
	{ TOY("\tsweep = {\"m=2\"}\n\tcache = {\"hot\"}"), use_all, NULL,
	  "x.bench:4: cache is 'hot', expected 'warm' or 'cold'" },
	{ TOY("\tsweep = {\"m=2\"}\n\tcache = {\"cold\", \"cold\"}"), use_all, NULL,
	  "x.bench:4: cache names 'cold' twice" },
	{ TOY("\tsweep = {\"m=2\"}\n\tbudget = \"0s\""), use_all, NULL,
	  "x.bench:4: budget is '0s', expected a time above 0 such as 500ms or 2s" },
	{ TOY("\tsweep = {\"m=2\"}\n\tbudget = \"3min\""), use_all, NULL,
	  "x.bench:4: the budget of bench 'a' does not fit its timeout, expected budget < timeout" },
	{ TOY("\tbudgt = \"3min\""), use_all, NULL, "x.bench:3: no such option 'budgt', did you mean 'budget'?" },
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
	  "suites/s.suite:3: no such option 'op', expected one of only, skip, shapes, sweep, variants, threads, cache, "
	  "counters, budget, timeout, memory" },
	{ TOY("\tsweep = {\"m=2\"}"), use_all, "*m=3*",
	  "no case of suite 's' matches '*m=3*', expected a glob over keys such as "
	  "'toy.matmul/ref/m=2,n=1,level=l2/t=1/warm'" },
	{ TOY("\tsweep = {\"m=2\"}"), use_all, "toy.matmol/*",
	  "no case of suite 's' matches 'toy.matmol/*', did you mean 'toy.matmul'?" },
	{ TOY("\tsweep = {\"m=2\"}"), use_all, "*/fsat/*",
	  "no case of suite 's' matches '*/fsat/*', did you mean 'fast'?" },
	{ TOY("\tsweep = {\"m=2\"}"), use_all, "toy.matmul/ref/m=7*",
	  "no case of suite 's' matches 'toy.matmul/ref/m=7*', expected a glob over keys such as "
	  "'toy.matmul/ref/m=2,n=1,level=l2/t=1/warm'" },
};

static void test_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(errors); i++) {
		struct assay_plan_options o = options(NULL, NULL);
		struct assay_plan p = { 0 };
		struct assay_err err = { 0 };
		struct assay_strings only = { 0 };
		char text[600];

		o.only = one_glob(errors[i].only, &only);
		assert_int_equal(plan_text(errors[i].bench, errors[i].suite, &o, &p, &err, text, sizeof(text)),
				 ASSAY_EUSAGE);
		assert_string_equal(text, errors[i].want);
		assert_null(p.cases);
		assay_strings_release(&only);
	}
}

/* Nobody has to want to know why. */
static void test_no_folder_of_suites(void **state)
{
	struct assay_strings suites = { 0 };
	struct assay_err err = { 0 };

	(void)state;
	assert_int_equal(assay_plan_suites("/nonexistent", &suites, NULL), ASSAY_EUSAGE);
	assert_int_equal(assay_plan_suites("/nonexistent", &suites, &err), ASSAY_EUSAGE);
	assert_int_equal(err.code, ASSAY_EUSAGE);
	assert_int_equal(suites.n, 0);
}

static void test_unknown_suite(void **state)
{
	static const char *const wrong[] = { "al", "nothing", "../good/suites/all", "" };
	static const char *const want[] = {
		"unknown suite 'al', did you mean 'all'?",
		"unknown suite 'nothing', expected one of all, some",
		"unknown suite '../good/suites/all', expected one of all, some",
		"unknown suite '', expected one of all, some",
	};

	(void)state;
	for (size_t i = 0; i < N_OF(wrong); i++) {
		struct assay_plan_options o = options(GOOD, wrong[i]);
		struct assay_plan p = { 0 };
		struct assay_err err = { 0 };

		assert_int_equal(assay_plan_load(&p, &o, &toy_catalog, &err), ASSAY_EUSAGE);
		assert_string_equal(err.text, want[i]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_suite),
		cmocka_unit_test(test_part_of_a_bench),
		cmocka_unit_test(test_one_core),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_suites),
		cmocka_unit_test(test_skip_reasons),
		cmocka_unit_test(test_batch_size),
		cmocka_unit_test(test_several_globs),
		cmocka_unit_test(test_doubling),
		cmocka_unit_test(test_other_arch),
		cmocka_unit_test(test_exact_cases),
		cmocka_unit_test(test_same_key_twice),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_unknown_suite),
		cmocka_unit_test(test_no_folder_of_suites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
