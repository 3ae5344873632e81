/* SPDX-License-Identifier: Apache-2.0 */
/* From bench and suite files to cases: keys, order, limits and reasons to skip. */
#include "plan_fixture.h"
#include "recorded_machine.h"

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

TEST(test_whole_suite)
{
	static const char *const want[] = {
		"plain/ref/-/t=1/warm",
		"toy.matmul/ref/m=64,n=1,level=l2/t=1/warm",
		"toy.matmul/fast/m=64,n=1,level=l2/t=1/warm",
		"toy.matmul/openblas/m=64,n=1,level=l2/t=1/warm",
		"toy.matmul/cuda/m=64,n=1,level=l2,device=cuda:0/t=1/warm",
		"toy.matmul/fast/m=64,n=1,level=l2/t=2/warm",
		"toy.matmul/openblas/m=64,n=1,level=l2/t=2/warm",
		"toy.matmul/cuda/m=64,n=1,level=l2,device=cuda:0/t=2/warm",
		"toy.matmul/ref/m=128,n=2,level=l2/t=1/warm",
		"toy.matmul/fast/m=128,n=2,level=l2/t=1/warm",
		"toy.matmul/openblas/m=128,n=2,level=l2/t=1/warm",
		"toy.matmul/cuda/m=128,n=2,level=l2,device=cuda:0/t=1/warm",
		"toy.matmul/fast/m=128,n=2,level=l2/t=2/warm",
		"toy.matmul/openblas/m=128,n=2,level=l2/t=2/warm",
		"toy.matmul/cuda/m=128,n=2,level=l2,device=cuda:0/t=2/warm",
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

	c = find(&p, "toy.matmul/cuda/m=64,n=1,level=l2,device=cuda:0/t=2/warm");
	assert_true(c->budget_ns == 200000000ull);
	assert_true(c->timeout_ns == 10000000000ull);
	assert_true(c->memory_bytes == 1ull << 30);
	assert_true(c->all_threads);
	assert_int_equal(c->threads, 2);
	assert_string_equal(c->skip_reason, "no CUDA device");
	assert_string_equal(c->axes[2].text, "l2");
	assert_int_equal(c->axes[2].value, 1);
	assert_false(find(&p, "toy.matmul/fast/m=64,n=1,level=l2/t=1/warm")->all_threads);
	assert_false(find(&p, "toy.matmul/fast/m=64,n=1,level=l2/t=1/warm")->reference);
	assert_true(find(&p, "toy.matmul/ref/m=64,n=1,level=l2/t=1/warm")->reference);
	assert_int_equal(find(&p, "toy.matmul/fast/m=64,n=4,level=dram/t=1/cold")->cache, ASSAY_CACHE_COLD);
	assay_plan_release(&p);
}

TEST(test_part_of_a_bench)
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

	if (assay_plan_load(&p, &o, &toy_catalog, &err))
		fail_msg("%s", err.text);
	assert_keys(&p, want, N_OF(want));
	assert_true(p.cases[0].budget_ns == 50000000ull);
	assert_true(p.cases[0].timeout_ns == 10000000000ull);
	assert_true(p.cases[7].budget_ns == 200000000ull);
	assay_plan_release(&p);
}

TEST(test_one_core)
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

	/* t=1 and t=all are one case, which globs over either name select. */
	o.all_threads = 1;
	if (assay_plan_load(&p, &o, &toy_catalog, &err))
		fail_msg("%s", err.text);
	assert_keys(&p, want, N_OF(want));
	for (size_t i = 0; i < p.n_cases; i++) {
		/* ref runs on one thread only, and the bench of n=2 names no other */
		assert_int_equal(p.cases[i].all_threads, strcmp(p.cases[i].variant, "ref") != 0);
		assert_string_equal(p.cases[i].skip_reason, "");
	}
	assay_plan_release(&p);
}

TEST(test_options)
{
	static unsigned threads[] = { 0, 2, 1 };
	static const char *const want[] = {
		"plain/ref/-/t=4/warm",
		"plain/ref/-/t=2/warm",
		"plain/ref/-/t=1/warm",
	};
	struct assay_plan_options o = options(GOOD, "all");
	struct assay_plan p = { 0 };
	const struct assay_case *c;

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

TEST(test_skip_reasons)
{
	struct assay_plan_options o = options(NULL, NULL);
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	char text[600];

	assert_int_equal(plan_text("bench \"a\" {\n op = \"toy.matmul\"\n shapes = {\"m=1\"}\n threads = {\"4\", "
				   "\"2\", \"all\"}\n}",
				   USE_ALL, &o, &p, &err, text, sizeof(text)),
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

/* All cases that any glob selects, each once and in the order of the suite; a glob that selects nothing is named. */
TEST(test_several_globs)
{
	static const char bench[] =
		"bench \"a\" {\n op = \"toy.matmul\"\n shapes = {\"m=1\", \"m=2\"}\n threads = {\"1\"}\n}";
	static const char *const want[] = {
		"toy.matmul/ref/m=1,n=1,level=l2/t=1/warm",
		"toy.matmul/fast/m=1,n=1,level=l2/t=1/warm",
		"toy.matmul/fast/m=2,n=1,level=l2/t=1/warm",
	};
	struct assay_plan_options o = options(NULL, NULL);
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	char text[600];

	assay_strings_add(&o.only, "*/fast/*", NULL);
	assay_strings_add(&o.only, want[0], NULL);
	assay_strings_add(&o.only, "fast/m=2", NULL);
	assert_int_equal(plan_text(bench, USE_ALL, &o, &p, &err, text, sizeof(text)), 0);
	assert_keys(&p, want, N_OF(want));
	assay_plan_release(&p);

	assay_strings_add(&o.only, "*/m=3,*", NULL);
	assay_strings_add(&o.only, "*/fast/*", NULL);
	assert_int_equal(plan_text(bench, USE_ALL, &o, &p, &err, text, sizeof(text)), ASSAY_ENOTFOUND);
	assert_string_equal(text, "no case of suite 's' matches '*/m=3,*', expected a glob over keys such as "
				  "'toy.matmul/ref/m=1,n=1,level=l2/t=1/warm'");
	assay_strings_release(&o.only);
}

/* Variants of another architecture count as known, and are planned only by a glob that selects no others. */
TEST(test_other_arch)
{
	static const char bench[] = "bench \"a\" {\n op = \"toy.matmul\"\n shapes = {\"m=1\", \"m=2\"}\n"
				    " variants = {\"fast\", \"openblas\"}\n threads = {\"1\"}\n}";
	static const struct {
		const char *suite, *globs[2];
		const char *keys[3];
	} rows[] = {
		{ USE_ALL, { NULL }, { "openblas/m=1", "openblas/m=2" } },
		{ USE_ALL, { "*" }, { "openblas/m=1", "openblas/m=2" } },
		{ USE_ALL, { "*/fast/*" }, { "fast/m=1", "fast/m=2" } },
		{ USE_ALL, { "toy.matmul/fast/m=2,n=1,level=l2/t=1/warm" }, { "fast/m=2" } },
		{ USE_ALL, { "*/m=1,*", "fast" }, { "fast/m=1", "openblas/m=1", "fast/m=2" } },
		{ "suite \"s\" {\n use \"*\" { only = {\"*/fast/*\", \"*/m=2,*\"} }\n}\n",
		  { NULL },
		  { "openblas/m=2" } },
		{ "suite \"s\" {\n use \"*\" { only = {\"*/fast/*\"} }\n}\n", { NULL }, { NULL } },
	};

	toy_variants[2].other_arch = "pdp11";
	toy_variants[2].unavailable = TEXT("built for pdp11");
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_plan_options o = options(NULL, NULL);
		struct assay_plan p = { 0 };
		struct assay_err err = { 0 };
		char text[600];
		size_t n = 0;

		for (size_t g = 0; g < N_OF(rows[i].globs); g++)
			add_glob(&o, rows[i].globs[g]);
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
		assay_strings_release(&o.only);
	}
	toy_variants[2].other_arch = NULL;
	toy_variants[2].unavailable = NULL;
}

/* Of the devices that are asked for, a case has those that its variant can run on; the first one where none is. */
TEST(test_devices)
{
	static const struct {
		const char *asked, *want;
	} rows[] = {
		{ "", "device=cuda:0" },
		{ "cuda:3", "device=cuda:3" },
		{ "rocm:1", "device=cuda:0" },
		{ "rocm:1,cuda:1,cuda:2", "device=cuda:1 device=cuda:2" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_plan_options o = options(NULL, NULL);
		struct assay_plan p = { 0 };
		struct assay_err err = { 0 };
		char text[600], got[256] = "";

		if (rows[i].asked[0])
			assert_int_equal(assay_strings_split(&o.devices, rows[i].asked, ',', NULL), 0);
		assert_int_equal(plan_text("bench \"a\" {\n op = \"toy.matmul\"\n shapes = {\"m=1\"}\n"
					   " variants = {\"fast\", \"cuda\"}\n}",
					   USE_ALL, &o, &p, &err, text, sizeof(text)),
				 0);
		for (size_t k = 0; k < p.n_cases; k++) {
			const struct assay_case *c = &p.cases[k];
			struct assay_case again = { 0 };

			memcpy(again.key, c->key, sizeof(again.key));
			assay_case_read_key(&again);
			assert_string_equal(again.device, c->device);
			assert_int_equal(c->device[0] != '\0', !strcmp(c->variant, "cuda"));
			assert_int_equal(c->n_axes, 3);
			if (c->device[0])
				snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%.*s", got[0] ? " " : "",
					 (int)strcspn(strstr(c->key, "device="), "/"), strstr(c->key, "device="));
		}
		assert_string_equal(got, rows[i].want);
		assay_plan_release(&p);
		assay_strings_release(&o.devices);
	}
}

TEST(test_words_of_devices)
{
	static const char *const bad[] = {
		"",           "cuda",   "cuda:",   ":0",      "cuda:-1",  "cuda:01",
		"cuda:00000", "CUDA:0", "cuda:0 ", "cuda:0,", "cuda:0x1",
	};
	struct assay_case c = { 0 };
	char name[ASSAY_NAME_MAX];
	unsigned n = 9;

	for (size_t i = 0; i < N_OF(bad); i++)
		if (assay_device_read(bad[i], name, &n))
			fail_msg("'%s' is read as a device", bad[i]);
	assert_true(assay_device_read("cuda:10", name, &n));
	assert_string_equal(name, "cuda");
	assert_int_equal(n, 10);
	/* what another tool calls a device is an axis like any other */
	snprintf(c.key, sizeof(c.key), "bm/x/device=all/t=1/warm");
	assay_case_read_key(&c);
	assert_string_equal(c.device, "");
	snprintf(c.key, sizeof(c.key), "bm/x/subdevice=cuda:0/t=1/warm");
	assay_case_read_key(&c);
	assert_string_equal(c.device, "");
	assert_false(c.own_threads);
}

/*
 * "doubling" on machines of several sizes, one thread a core unless told, and beside numbers that the bench names
 * itself.
 */
TEST(test_doubling)
{
	static unsigned option[] = { ASSAY_THREADS_DOUBLING, 3 };
	static const struct {
		const char *machine;
		bool smt, option;
		const char *threads, *want; /* "+" before what only this machine has between 1 and all */
	} rows[] = {
		{ "one-core", false, false, "\"doubling\"", " 1=all" },
		{ "one-core", false, false, "\"all\", \"1\"", " 1=all" },
		{ "one-core", false, false, "\"1\"", " 1" },
		{ "cpuset-4-7", false, false, "\"doubling\"", " 1 +2 4=all" },
		{ "hybrid", false, false, "\"doubling\"", " 1 +2 +4 +8 12=all" },
		{ "hybrid", true, false, "\"doubling\"", " 1 +2 +4 +8 16=all" },
		{ "two-sockets", true, false, "\"doubling\"", " 1 +2 +4 +8 +16 32=all" },
		{ "hybrid", false, false, "\"4\", \"doubling\", \"12\"", " 4 1 +2 +8 12=all" },
		{ "hybrid", false, true, "\"1\"", " 1 +2 +4 +8 12=all 3" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_placement_options placement = { .smt = rows[i].smt };
		struct assay_plan_options o = options(NULL, NULL);
		struct assay_topology *t = machine_open(rows[i].machine);
		struct assay_plan p = { 0 };
		struct assay_err err = { 0 };
		char bench[256], text[600], got[128] = "";
		bool alone = false;

		o.all_threads = (unsigned)assay_placement_max(t, &placement);
		assay_topology_close(t);
		o.threads = option;
		o.n_threads = rows[i].option ? N_OF(option) : 0;
		/* ref runs on one thread only: it has the case at t=1, and at what the bench names */
		snprintf(bench, sizeof(bench),
			 "bench \"a\" {\n op = \"toy.matmul\"\n shapes = {\"m=1\"}\n variants = {\"ref\", \"fast\"}\n"
			 " threads = {%s}\n}",
			 rows[i].threads);
		assert_int_equal(plan_text(bench, USE_ALL, &o, &p, &err, text, sizeof(text)), 0);
		for (size_t k = 0; k < p.n_cases; k++) {
			const struct assay_case *c = &p.cases[k];

			if (!strcmp(c->variant, "ref")) {
				assert_true(!c->between_threads && !c->all_threads);
				alone |= c->threads == 1;
				continue;
			}
			snprintf(got + strlen(got), sizeof(got) - strlen(got), " %s%u%s", c->between_threads ? "+" : "",
				 c->threads, c->all_threads ? "=all" : "");
		}
		assert_string_equal(got, rows[i].want);
		assert_true(alone);
		assay_plan_release(&p);
	}
}

/* Which cases are counted, and with which caches; also when --only leaves some out. */
TEST(test_exact_cases)
{
	static const char bench[] =
		"bench \"a\" {\n op = \"toy.matmul\"\n shapes = {\"m=1\", \"m=2\"}\n threads = {\"1\"}\n}";
	static const struct {
		const char *suite, *only, *model;
		size_t n, n_exact;
	} cases[] = {
		{ USE_ALL, NULL, "", 8, 0 },
		{ ALL_AND("\texact \"canon\" { cases = {\"*/fast/*\"} }"), NULL, "canon", 8, 2 },
		{ ALL_AND("\texact \"host\" { cases = {\"*/fast/m=1,*\", \"*/ref/*\"} }"), NULL, "host", 8, 3 },
		/* a glob may stand for a variant that is not built everywhere */
		{ ALL_AND("\texact \"canon\" { cases = {\"*/neon/*\", \"*/fast/*\"} }"), NULL, "canon", 8, 2 },
		{ ALL_AND("\texact \"canon\" { cases = {\"*/fast/*\"} }"), "m=1,", "canon", 4, 1 },
		{ ALL_AND("\texact \"canon\" { cases = {\"*/fast/*\"} }"), "*/ref/*", "canon", 2, 0 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_plan_options o = options(NULL, NULL);
		struct assay_plan p = { 0 };
		struct assay_err err = { 0 };
		size_t n_exact = 0;
		char text[600];

		add_glob(&o, cases[i].only);
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
		assay_strings_release(&o.only);
	}
}

TEST(test_batch_size)
{
	static const char bench[] = "bench \"a\" {\n op = \"toy.generate\"\n sweep = {\"batch=1,8\"}\n}";
	static const char *const want[] = { "toy.generate/ref/batch=4/t=1/warm" };
	struct assay_plan_options o = options(NULL, NULL);
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	char text[600];

	o.batch_size = 4;
	assert_int_equal(plan_text(bench, USE_ALL, &o, &p, &err, text, sizeof(text)), 0);
	assert_keys(&p, want, 1);
	assay_plan_release(&p);
	o.batch_size = 65;
	assert_int_equal(plan_text(bench, USE_ALL, &o, &p, &err, text, sizeof(text)), ASSAY_EUSAGE);
	assert_string_equal(text, "batch size 65 does not fit op 'toy.generate', expected 1 to 64");
}

/* How much a call works is told where it is not what it is for times. */
TEST(keys_name_the_axis_of_work_unless_it_is_zero)
{
	static const char *const want[] = { "toy.rounds/ref/m=4/t=1/warm", "toy.rounds/ref/m=4,rounds=2/t=1/warm",
					    "toy.rounds/ref/m=5/t=1/warm" };
	struct assay_plan_options o = options(GOOD, "all");
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	char text[512];

	if (plan_text("bench \"b\" { op = \"toy.rounds\" shapes = {\"m=4\", \"m=4,rounds=2\", \"m=5,rounds=0\"} }\n",
		      USE_ALL, &o, &p, &err, text, sizeof(text)))
		fail_msg("%s", text);
	assert_keys(&p, want, N_OF(want));
	assert_int_equal(p.cases[0].n_axes, 1);
	assert_int_equal(p.cases[1].axes[1].value, 2);
	assay_plan_release(&p);
}

/* A case that takes too long to step is counted at other shapes, with the same variant, threads and cache state. */
TEST(exact_shapes_belong_to_cases)
{
	struct assay_plan_options o = options(GOOD, "all");
	struct assay_plan p = { 0 };
	struct assay_err err = { 0 };
	char text[512];

	if (plan_text("bench \"b\" {\n\top = \"toy.matmul\"\n\tshapes = {\"m=64\"}\n\tsweep = {\"n=1,4\"}\n"
		      "\tvariants = {\"ref\", \"fast\"}\n\tthreads = {\"1\"}\n\tcache = {\"warm\"}\n"
		      "\texact_shapes = {\"m=8,n=1\"}\n}\n",
		      "suite \"s\" {\n\texact \"canon\" { cases = {\"*/fast/*\"} small = {\"*,n=4/*\"} steps = 5000 "
		      "budget = "
		      "\"20s\" }\n\tuse \"b\" { }\n}\n",
		      &o, &p, &err, text, sizeof(text)))
		fail_msg("%s", text);
	assert_int_equal(p.exact_steps, 5000);
	assert_int_equal(p.exact_budget_ns, 20000000000u);
	assert_int_equal(p.n_cases, 4);
	assert_int_equal(p.n_smaller, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(p.smaller[i].of, i);
		assert_string_equal(p.smaller[i].c.variant, p.cases[i].variant);
		assert_int_equal(p.smaller[i].c.axes[0].value, 8);
		assert_int_equal(p.exact_small[i], p.exact[i] && strstr(p.cases[i].key, ",n=4/"));
	}
	assay_plan_release(&p);
	assert_int_equal(plan_text("bench \"b\" { op = \"toy.matmul\" shapes = {\"m=64,n=1\"} }\n",
				   "suite \"s\" {\n\texact \"canon\" {\n\t\tcases = {\"*\"}\n\t\tsteps = 10\n\t}\n"
				   "\tuse \"b\" { }\n}\n",
				   &o, &p, &err, text, sizeof(text)),
			 ASSAY_EUSAGE);
	assert_string_equal(text, "suites/s.suite:4: steps is '10', expected a whole number from 1000 to 100000000");
	assert_int_equal(
		plan_text("bench \"b\" { op = \"toy.matmul\" shapes = {\"m=64,n=1\"} }\n",
			  "suite \"s\" {\n\texact \"canon\" {\n\t\tcases = {\"*\"}\n\t\tbudget = \"soon\"\n\t}\n"
			  "\tuse \"b\" { }\n}\n",
			  &o, &p, &err, text, sizeof(text)),
		ASSAY_EUSAGE);
	assert_non_null(strstr(text, "suites/s.suite:4: budget is 'soon', expected "));
}

UNIT_GROUP(NULL, NULL)
