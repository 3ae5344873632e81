/* SPDX-License-Identifier: Apache-2.0 */
/* Benches that run a command: which cases they make, and what is said of those that are wrong. */
#include "plan_fixture.h"

#include "plan/plan.h"

#define METRIC(name, rest) "metric \"" name "\" { " rest " } "
#define SPEED              "pattern = \"([0-9.]+) MB/s\" unit = \"MB/s\" better = \"higher\""

static int load(const char *text, const char *suite, struct assay_catalog *cat, struct assay_plan *plan,
		struct assay_err *err)
{
	static const char *const names[] = { "x.bench", "suites/s.suite" };
	struct assay_plan_options o = { .suite = "s", .all_threads = 4 };
	struct bench_dir d;
	int rc;

	bench_dir_make(&d);
	bench_dir_write(&d, names[0], text);
	bench_dir_write(&d, names[1], suite);
	o.bench_dir = d.path;
	rc = assay_plan_programs(d.path, cat, err);
	if (!rc && plan)
		rc = assay_plan_load(plan, &o, cat, err);
	bench_dir_remove(&d, names, 2);
	return rc;
}

#define ALL "suite \"s\" { use \"*\" { } }"

static const struct {
	const char *text, *want; /* what the message ends in */
} bad[] = {
	{ "bench a { command = \"\" }", ":1: the command of bench 'a': a command is empty" },
	{ "bench a {\ncommand = \"x | y\" }", ":2: the command of bench 'a': only a shell understands the '|' in 'x | "
					      "y': put it in single quotes, or run a shell "
					      "as sh -c '…'" },
	{ "bench a { command = \"{x} y\" }",
	  "its first word names no program that a key could have, without blanks and any of "
	  "{}*?[,=" },
	{ "bench a { command = x " METRIC("m", "pattern = \"(\" unit = s better = lower") "}",
	  "metric 'm' of bench 'a' has a pattern that is not a regular expression: Unmatched ( or \\(" },
	{ "bench a { command = x " METRIC("m", "pattern = \"1\" unit = s better = lower") "}",
	  "metric 'm' of bench 'a' has a pattern without a group: put the number in ( ), as in 'speed: ([0-9.]+)'" },
	{ "bench a { command = x " METRIC("m", "unit = s better = lower") "}",
	  "metric 'm' of bench 'a' has no pattern, expected a regular expression that finds it in the output" },
	{ "bench a { command = x " METRIC("m", "pattern = \"(1)\" better = lower") "}",
	  "metric 'm' of bench 'a' has no unit, expected one such as unit = \"MB/s\", or \"1\"" },
	{ "bench a { command = x " METRIC("m", "pattern = \"(1)\" unit = s") "}",
	  "metric 'm' of bench 'a' does not say what is better, expected better = \"higher\" or \"lower\"" },
	{ "bench a { command = x " METRIC("m", "pattern = \"(1)\" unit = s better = more") "}",
	  "metric 'm' of bench 'a' is better neither \"higher\" nor \"lower\"" },
	{ "bench a { command = x " METRIC("a b", "") "}",
	  "metric 'a b' of bench 'a' has a bad name, expected letters, digits and '_'" },
	{ "bench a { command = x " METRIC("ops_per_s", SPEED) "}",
	  "metric 'ops_per_s' of bench 'a' has a name that assay gives to something else" },
	{ "bench a { command = x " METRIC("time_s", SPEED) "}",
	  "metric 'time_s' of bench 'a' is measured by assay itself: metric \"…\" { } has it judged" },
	{ "bench a { command = x " METRIC("m", SPEED) METRIC("m", SPEED) "}", "metric 'm' of bench 'a' appears twice" },
	{ "bench a { command = \"x {n}\" shapes = \"m=1\" }",
	  "bench 'a' has an axis 'm', and its command has no {m} that it could fill in" },
	{ "bench a { command = \"x {n} y{m}\" shapes = \"n=1\" }",
	  ":1: the command of bench 'a' has {m}, and the bench has no such axis, only {n}, {threads}; if the program "
	  "is to get "
	  "it as it stands, put blanks inside the braces" },
	{ "bench a { command = \"x {threads}\" sweep = \"threads=1,2\" }",
	  "expected a name of a-z, 0-9 and '_' other than "
	  "'threads'" },
	{ "bench a { command = \"x {n}\" sweep = \"n=a/b\" }",
	  "axis 'n' of bench 'a' is 'a/b', expected a text without blanks and any of /,=*?[" },
	{ "bench plain { command = x }",
	  "bench 'plain' runs a command and has the name of an op: give it another one" },
	{ "bench a { op = plain " METRIC("m", SPEED) "}", ":1: bench 'a' has a metric and no command that prints it" },
	{ "bench a { op = plain command = x }", ":1: bench 'a' has both an op and a command" },
	{ "bench a { command = x\ncache = cold }", ":2: bench 'a' runs a command, for which 'cache' means nothing" },
};

TEST(what_is_wrong_is_said_with_its_bench)
{
	for (size_t i = 0; i < N_OF(bad); i++) {
		struct assay_catalog_op *plain = calloc(1, sizeof(*plain));
		struct assay_catalog cat = { .ops = plain, .n_ops = 1 };
		struct assay_err err = { 0 };
		size_t len, want = strlen(bad[i].want);

		plain->name = strdup("plain");
		assert_int_equal(load(bad[i].text, ALL, &cat, NULL, &err), ASSAY_EUSAGE);
		len = strlen(err.text);
		if (len < want || strcmp(err.text + len - want, bad[i].want) != 0)
			fail_msg("%zu: '%s', expected '%s'", i, err.text, bad[i].want);
		assay_catalog_release(&cat);
	}
}

TEST(axes_keep_what_is_no_number)
{
	struct assay_catalog cat = { 0 };
	struct assay_plan plan = { 0 };
	struct assay_err err = { 0 };

	assert_int_equal(load("bench \"a\" { command = \"x {n} {k}\" sweep = {\"n=1,07\", \"k=-3,5\"} }", ALL, &cat,
			      &plan, &err),
			 0);
	assert_int_equal(plan.n_cases, 4);
	assert_string_equal(plan.cases[2].key, "a/x/n=07,k=-3/t=4/-");
	assert_int_equal(plan.cases[2].axes[1].value, -3);
	assay_plan_release(&plan);
	assay_catalog_release(&cat);
}

UNIT_GROUP(NULL, NULL)
