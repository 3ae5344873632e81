/* SPDX-License-Identifier: Apache-2.0 */
/* Group files: what they hold, what is wrong with them, what is chosen and derived. */
#include <unistd.h>

#include "counters/groups.h"
#include "unit.h"

static char dir[64];

static int set_up(void **state)
{
	strcpy(dir, "/tmp/assay-groups-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.group", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0 && !fclose(f));
}

static void drop(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s.group", dir, name);
	assert_int_equal(unlink(path), 0);
}

static int tear_down(void **state)
{
	return rmdir(dir);
}

static const char cache_text[] =
	"group \"cache\" {\n"
	"  summary = \"s\"\n"
	"  events = {\"misses\"}\n"
	"  event \"loads\" { any = {\"ANY_1\", \"ANY_2\"} amd = {\"AMD_1\"} intel = {\"I_1\"} }\n"
	"  metric \"hit_rate\" { range = {\"0\", \"1\"}\n"
	"    formula = \"1 - misses / loads\" better = \"higher\" }\n"
	"}\n";

TEST_WITH(test_events, set_up, tear_down)
{
	static const struct {
		const char *vendor, *want;
	} cases[] = { { "amd", "loads\tAMD_1\tANY_1\tANY_2\n" },
		      { "intel", "loads\tI_1\tANY_1\tANY_2\n" },
		      { "", "loads\tANY_1\tANY_2\n" } };

	put("cache", cache_text);
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_counter_choice choice = { 0 };
		struct assay_counter_groups g;
		struct assay_text text = { 0 };
		struct assay_err err;
		char want[256];

		assert_int_equal(assay_counter_groups_load(&g, dir, cases[i].vendor, &err), 0);
		assert_int_equal(assay_counter_choice_add(&choice, &g, "cache,cache", &err), 0);
		assert_int_equal(assay_counter_choice_add(&choice, &g, "", &err), 0);
		assert_int_equal(assay_strings_add(&choice.events, "misses", NULL), 0);
		assert_int_equal(assay_strings_add(&choice.events, "extra", NULL), 0);
		assay_counter_choice_text(&choice, &text);
		snprintf(want, sizeof(want), "misses\tmisses\n%sextra\textra\n", cases[i].want);
		assert_string_equal(text.s, want);
		assert_int_equal(assay_counter_choice_add(&choice, &g, "cahce", &err), ASSAY_EUSAGE);
		assert_string_equal(err.text, "unknown group of counters 'cahce', did you mean 'cache'?");
		assay_text_release(&text);
		assay_counter_choice_release(&choice);
		assay_counter_groups_release(&g);
	}
	drop("cache");
}

TEST_WITH(test_errors, set_up, tear_down)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "group \"g\" { events = {\"a\"} metric \"m\" {\nformula = \"a / \" } }",
		  "g.group:2: cannot read 'a / '" },
		{ "group \"g\" { events = {\"a\"}\nmetric \"m\" { formula = \"1 / ab\" } }",
		  "g.group:2: 'ab' is not an event of group 'g', did you mean 'a'?" },
		{ "group \"g\" { events = {\"a\"} metric \"m\" { } }", "g.group:1: metric 'm' has no formula" },
		{ "group \"g\" { events = {\"a\"} metric \"M\" { formula = \"a\" } }",
		  "g.group:1: bad metric name 'M'" },
		{ "group \"g\" { events = {\"a\"} metric \"time_s\" { formula = \"a\" } }",
		  "bad metric name 'time_s'" },
		{ "group \"g\" { events = {\"a\"} metric \"m\" { formula = \"a\" better = \"more\" } }",
		  "better is 'more', expected higher, lower or neither" },
		{ "group \"g\" { events = {\"a\"} metric \"m\" { formula = \"a\" range = {\"1\", \"0\"} } }",
		  "bad range of metric 'm'" },
		{ "group \"g\" { events = {\"a\"} metric \"m\" { formula = \"a\" range = {\"0\"} } }",
		  "bad range of metric 'm'" },
		{ "group \"g\" { events = {\"a\", \"a\"} }", "event 'a' is listed twice in group 'g'" },
		{ "group \"g\" { events = {\"\"} }", "bad event name ''" },
		{ "group \"g\" { }", "group 'g' has no events" },
		{ "group \"h\" { events = {\"a\"} }", "expected one group \"g\" in this file" },
		{ "", "expected one group \"g\" in this file" },
		{ "group \"g\" { event = {\"a\"} }", "g.group:1: " },
		{ "group \"g\" { events = {\"a\"} metric \"m\" { formula = \"a\" } metric \"m\" { formula = \"a\" } }",
		  "metric 'm' is already defined in " },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_counter_groups g;
		struct assay_err err = { 0 };

		put("g", cases[i].text);
		assert_int_equal(assay_counter_groups_load(&g, dir, "", &err), ASSAY_EUSAGE);
		if (!strstr(err.text, cases[i].want))
			fail_msg("'%s' says '%s'", cases[i].text, err.text);
	}
	drop("g");
}

static void count(struct assay_counters *c, const char *name, const char *source, double value, double running)
{
	struct assay_count v = { .value = value, .running_frac = running, .per_iteration = true };

	strcpy(v.name, name);
	strcpy(v.source, source);
	assert_int_equal(assay_counters_add(c, &v), 0);
}

TEST_WITH(test_derived, set_up, tear_down)
{
	static const struct {
		double misses, loads, running;
		const char *source; /* of loads; NULL: not counted */
		double want;        /* NaN is not: -1 stands for unavailable */
		const char *why;
	} cases[] = {
		{ 25, 100, 1, "pmu", 0.75, NULL },
		{ 25, 100, 0.5, "pmu", 0.75, NULL },
		{ 25, 100, 1, "os", 0.75, NULL },
		{ 0, 0, 1, "pmu", -1, "cache.group:6: division by zero: 'loads' is 0" },
		{ 200, 100, 1, "pmu", -1, "metric 'hit_rate' is -1, allowed 0 to 1" },
		{ 25, 0, 1, NULL, -1, "needs loads: no PMU" },
	};

	put("cache", cache_text);
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_counter_choice choice = { 0 };
		struct assay_counters c = { 0 };
		struct assay_counter_groups g;
		struct assay_metric *m = NULL;
		size_t n = 0;

		assert_int_equal(assay_counter_groups_load(&g, dir, "", NULL), 0);
		assert_int_equal(assay_counter_choice_add(&choice, &g, "cache", NULL), 0);
		count(&c, "misses", "sde", cases[i].misses, 1);
		if (cases[i].source)
			count(&c, "loads", cases[i].source, cases[i].loads, cases[i].running);
		else
			assert_int_equal(assay_counters_add_missing(&c, "loads", "pmu", "no PMU"), 0);
		assert_int_equal(assay_counter_derive(&choice, &c, &m, &n, NULL), 0);
		assert_int_equal(n, cases[i].want >= 0);
		if (n) {
			assert_true(m->value == cases[i].want && m->better == 1);
			assert_int_equal(m->estimated, cases[i].running < 1);
			/* published by an op stands below the PMU, above what the system counts */
			assert_string_equal(m->source, strcmp(cases[i].source, "os") ? "sde" : "os");
			/* what is there already is left alone */
			assert_int_equal(assay_counter_derive(&choice, &c, &m, &n, NULL), 0);
			assert_int_equal(n, 1);
		} else if (!strstr(assay_counters_find_missing(&c, "hit_rate")->reason, cases[i].why)) {
			fail_msg("'%s'", assay_counters_find_missing(&c, "hit_rate")->reason);
		}
		free(m);
		assay_counters_release(&c);
		assay_counter_choice_release(&choice);
		assay_counter_groups_release(&g);
	}
	drop("cache");
}

TEST_WITH(test_event_names, set_up, tear_down)
{
	static const struct {
		const char *name, *want; /* NULL: makes sense */
	} cases[] = {
		{ "PAPI_L1_DCM", NULL },
		{ "misses", NULL },
		{ "kv_hits", NULL },
		{ "minor_faults", NULL },
		{ "MEM_INST_RETIRED:ANY", NULL },
		{ "L1-DCACHE-LOADS", NULL },
		{ "PAPI_L1_DCN", "unknown event 'PAPI_L1_DCN', did you mean 'PAPI_L1_DCM'?" },
		{ "kv_hit", "unknown event 'kv_hit', did you mean 'kv_hits'?" },
		{ "", "unknown event ''" },
	};
	char name[] = "kv_hits", *published[] = { name };
	const struct assay_strings ops = { published, 1 };
	struct assay_counter_groups g;

	put("cache", cache_text);
	assert_int_equal(assay_counter_groups_load(&g, dir, "", NULL), 0);
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_err err = { 0 };

		assert_int_equal(assay_counter_event_check(cases[i].name, &g, &ops, &err),
				 cases[i].want ? ASSAY_EUSAGE : 0);
		if (cases[i].want && strncmp(err.text, cases[i].want, strlen(cases[i].want)))
			fail_msg("'%s'", err.text);
	}
	assay_counter_groups_release(&g);
	drop("cache");
}

/* Every event that a chosen group names must be counted by something. */
TEST_WITH(test_names_in_groups, set_up, tear_down)
{
	static const struct {
		const char *text, *vendor, *want; /* NULL: makes sense */
	} cases[] = {
		{ "group \"g\" { events = {\"minor_faults\",\n\"kv_hits\", \"heap_bytes\", \"PAPI_L1_DCM\", \"A:B\"} }",
		  "", NULL },
		{ "group \"g\" { events = {\"minor_faults\",\n\"kv_hitz\"} }", "",
		  "g.group:2: unknown event 'kv_hitz', did you mean 'kv_hits'?" },
		{ "group \"g\" {\nevent \"e\" { any = {\"PAPI_L1_DCM\", \"PAPI_L2_TCN\"} } }", "",
		  "g.group:2: unknown event 'PAPI_L2_TCN', did you mean 'PAPI_L2_TCM'?" },
		{ "group \"g\" { event \"e\" { arm = {\"STALL\"} any = {\"PAPI_L1_DCM\"} } }", "arm", NULL },
		{ "group \"g\" { event \"e\" { arm = {\"STALL\"} any = {\"STALL\"} } }", "arm",
		  "g.group:1: unknown event 'STALL'" },
		{ "group \"g\" { event \"e\" { arm = {\"STALL\"} } }", "amd", NULL },
	};
	char name[] = "kv_hits", *published[] = { name };
	const struct assay_strings ops = { published, 1 };

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_counter_choice choice = { 0 };
		struct assay_counter_groups g;
		struct assay_err err = { 0 };

		put("g", cases[i].text);
		assert_int_equal(assay_counter_groups_load(&g, dir, cases[i].vendor, NULL), 0);
		assert_int_equal(assay_counter_choice_check(&choice, &ops, NULL), 0);
		assert_int_equal(assay_counter_choice_add(&choice, &g, "g", NULL), 0);
		assert_int_equal(assay_counter_choice_check(&choice, &ops, &err), cases[i].want ? ASSAY_EUSAGE : 0);
		if (cases[i].want && !strstr(err.text, cases[i].want))
			fail_msg("'%s'", err.text);
		assay_counter_choice_release(&choice);
		assay_counter_groups_release(&g);
	}
	drop("g");
}

/* A formula without events rests on no count, but on something. */
TEST_WITH(test_constant, set_up, tear_down)
{
	struct assay_counter_choice choice = { 0 };
	struct assay_counters c = { 0 };
	struct assay_counter_groups g;
	struct assay_metric *m = NULL;
	size_t n = 0;

	put("g",
	    "group \"g\" { events = {\"a\"} metric \"m\" { formula = \"1 / 0\" } metric \"two\" { formula = \"2\" } }");
	assert_int_equal(assay_counter_groups_load(&g, dir, "", NULL), 0);
	assert_int_equal(assay_counter_choice_add(&choice, &g, "g", NULL), 0);
	assert_int_equal(assay_counter_derive(&choice, &c, &m, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_string_equal(m->source, ASSAY_SOURCE_ASSAY);
	assert_string_equal(assay_counters_find_missing(&c, "m")->source, ASSAY_SOURCE_ASSAY);
	free(m);
	assay_counters_release(&c);
	assay_counter_choice_release(&choice);
	assay_counter_groups_release(&g);
	drop("g");
}

/* ---- formula ---- */

/* Formulas over counts: value, precedence, and every way to be wrong. */

TEST(test_values)
{
	static const struct {
		const char *text;
		double values[3], want;
	} cases[] = {
		{ "1 - a / b", { 25, 100 }, 0.75 },
		{ "1-a/b", { 25, 100 }, 0.75 },
		{ "a - b - 1", { 10, 3 }, 6 },
		{ "a / b / 2", { 12, 3 }, 2 },
		{ "a + b * 2", { 1, 3 }, 7 },
		{ "(a + b) * 2", { 1, 3 }, 8 },
		{ "-a * -2", { 4 }, 8 },
		{ "--a", { 4 }, 4 },
		{ "1e3 * PAPI_TLB_DM / PAPI_TOT_INS", { 2, 1000 }, 2 },
		{ "a + b + a", { 1, 10 }, 12 },
		{ " .5 ", { 0 }, 0.5 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_err err = { 0 };
		struct assay_formula f;
		double v = -1;

		if (assay_formula_parse(&f, cases[i].text, &err) || assay_formula_value(&f, cases[i].values, &v, &err))
			fail_msg("%s: %s", cases[i].text, err.text);
		if (v != cases[i].want)
			fail_msg("%s is %g, not %g", cases[i].text, v, cases[i].want);
		assay_formula_release(&f);
	}
}

TEST(test_names)
{
	struct assay_formula f;

	assert_int_equal(assay_formula_parse(&f, "b / (a + b) + a_2", NULL), 0);
	assert_int_equal(f.names.n, 3);
	assert_string_equal(f.names.v[0], "b");
	assert_string_equal(f.names.v[1], "a");
	assert_string_equal(f.names.v[2], "a_2");
	assay_formula_release(&f);
}

TEST(test_syntax)
{
	static const char *const cases[][2] = {
		{ "", "cannot read '': expected a number, a name or '(' at its end" },
		{ "1 -", "cannot read '1 -': expected a number, a name or '(' at its end" },
		{ "1 - / a", "cannot read '1 - / a': expected a number, a name or '(' at column 5, not '/'" },
		{ "(a", "cannot read '(a': expected ')' at its end" },
		{ "a)", "cannot read 'a)': expected an operator at column 2, not ')'" },
		{ "a b", "cannot read 'a b': expected an operator at column 3, not 'b'" },
		{ "a ^ 2", "cannot read 'a ^ 2': expected an operator at column 3, not '^'" },
		{ "a.b", "cannot read 'a.b': expected an operator at column 2, not '.'" },
		{ ".", "cannot read '.': expected a number at column 1, not '.'" },
	};
	char deep[400];
	struct assay_err err;
	struct assay_formula f;

	for (size_t i = 0; i < N_OF(cases); i++) {
		err.text[0] = '\0';
		assert_int_equal(assay_formula_parse(&f, cases[i][0], &err), ASSAY_EUSAGE);
		assert_string_equal(err.text, cases[i][1]);
	}
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(assay_formula_parse(&f, deep, &err), ASSAY_EUSAGE);
	assert_non_null(strstr(err.text, "fewer nested parts at column 65"));
}

TEST(test_no_value)
{
	static const struct {
		const char *text;
		double values[2];
		const char *want;
	} cases[] = {
		{ "a / b", { 1, 0 }, "division by zero: 'b' is 0" },
		{ "1 / (a - b)", { 3, 3 }, "division by zero: '(a - b)' is 0" },
		{ "a / b", { 1e300, 1e-300 }, "'a / b' is not a finite number" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_formula f;
		struct assay_err err;
		double v = 7;

		assert_int_equal(assay_formula_parse(&f, cases[i].text, NULL), 0);
		assert_int_equal(assay_formula_value(&f, cases[i].values, &v, &err), ASSAY_EUNAVAILABLE);
		assert_string_equal(err.text, cases[i].want);
		assert_true(v == 7);
		assay_formula_release(&f);
	}
}

UNIT_GROUP(NULL, NULL)
