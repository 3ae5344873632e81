/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assay compare: two builds measured against each other, now, in lock step, by their counts, or both; the exit status
 * is the verdict.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/compare_options.h"
#include "drive/compare/compare.h"
#include "drive/next_step.h"
#include "drive/show/name.h"

struct compare_args {
	struct assay_compare_args c;
	enum assay_take take;
	struct assay_compare_output out;
	const char *replay; /* a stored comparison; NULL: measure one */
};

static int set_evidence(void *to, const char *arg, const char *name, struct assay_err *err)
{
	enum assay_take *take = to;

	if (!strcmp(arg, "paired"))
		*take = ASSAY_TAKE_TIMES;
	else if (!strcmp(arg, "exact"))
		*take = ASSAY_TAKE_COUNTS;
	else if (!strcmp(arg, "all"))
		*take = ASSAY_TAKE_ALL;
	else
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%s is '%s', expected paired (interleaved times), exact (counts) or all", name,
				     arg);
	return 0;
}

static int set_profile(void *to, const char *arg, const char *name, struct assay_err *err)
{
	static const char *const names[] = {
		[ASSAY_PROFILE_NO] = "no", [ASSAY_PROFILE_CHANGED] = "auto", [ASSAY_PROFILE_ALL] = "all"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(arg, names[i])) {
			*(enum assay_profile_cases *)to = (enum assay_profile_cases)i;
			return 0;
		}
	return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected auto, no or all", name, arg);
}

static int set_revision(void *to, const char *arg, const char *name, struct assay_err *err)
{
	(void)name;
	return assay_revision_read_sides(arg, to, err);
}

static int take_side(void *args, const char *arg, struct assay_err *err)
{
	struct compare_args *a = args;

	if (!a->c.q.base)
		a->c.q.base = arg;
	else if (!a->c.q.head)
		a->c.q.head = arg;
	else
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': compare takes BASE and HEAD", arg);
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct compare_args *a = args;

	if (a->replay && a->c.q.base)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "unexpected argument '%s': --replay judges what is stored and measures nothing",
				     a->c.q.base);
	if (a->replay)
		return 0;
	if (!a->c.q.base)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "nothing to compare with: name a BASE, such as 'assay compare main'");
	if (a->c.q.variants && !a->c.q.head)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--variants takes two: 'assay compare --variants %s OP/VARIANT'", a->c.q.base);
	if (a->c.q.variants && a->take != ASSAY_TAKE_TIMES)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--variants compares times, and --evidence takes exact counts: drop one");
	return 0;
}

static const struct assay_option options[] = {
	{ "replay", 0, "COMPARISON", assay_option_text, offsetof(struct compare_args, replay),
	  "Judge this stored comparison, such as c3 or last, again: from its samples, counts and policy as they are "
	  "stored, so that the answer is the same on any machine. Nothing is measured" },
	{ "evidence", 0, "paired|exact|all", set_evidence, offsetof(struct compare_args, take),
	  "paired: interleaved times (default); exact: counts of a simulated processor instead, for the cases that the "
	  "suite names for it or that --only selects; all: both" },
	{ "revision", ASSAY_RARELY, "[REV..]REV", set_revision, offsetof(struct compare_args, c.q.revision),
	  "The commits that plugin files were built from, of BASE and HEAD or of HEAD alone; a + at the end says that "
	  "there were uncommitted changes (default: the commit and state of the repository that they lie in)" },
	{ "profile", 0, "auto|no|all", set_profile, offsetof(struct compare_args, c.q.profile),
	  "Profile both sides after the verdict, and name the function that changed: auto: the five REGRESSED and "
	  "IMPROVED cases that changed most (default); all: each case" },
	{ "profile-for", ASSAY_RARELY, "TIME", assay_option_duration, offsetof(struct compare_args, c.q.profile_for_ns),
	  "How long each of them is profiled (default 4s)" },
	{ "same-code", ASSAY_RARELY, NULL, assay_option_flag, offsetof(struct compare_args, c.q.same_code),
	  "Also time cases whose machine code is identical, in five pairs; they pass either way" },
	{ "variants", 0, NULL, assay_option_flag, offsetof(struct compare_args, c.q.variants),
	  "BASE and HEAD are two variants of one op, such as quantize.q8_0/avx2: how many times as fast is the "
	  "second?" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "BASE [HEAD]\n--replay COMPARISON",
	.doc = "Compare two builds in interleaved measurements on the same cores, and say which cases became "
	       "slower, faster or wrong. BASE and HEAD are each a git revision, a plugin file or a folder of "
	       "plugins; HEAD defaults to the working tree. Both sides get the ops, inputs and seed of the head.\v"
	       "The exit status is 0 if nothing regressed, 1 REGRESSED, 2 bad usage, 3 WRONG_RESULT, 4 "
	       "NOT_MEASURED, 5 INCOMPARABLE, 6 INCONCLUSIVE with --strict or a suspect with --suspects fail, 130 "
	       "when interrupted.\n"
	       "\n"
	       "examples:\n"
	       "  assay compare main\n"
	       "  assay compare old.so new.so --suite smoke --margin 1%\n"
	       "  assay compare main --evidence all\n"
	       "  assay compare --variants quantize.q8_0/ref quantize.q8_0/avx2\n"
	       "  assay compare --replay c3",
	.tables = { ASSAY_OPTIONS_MEASURING,
		    { assay_options_models, 0 },
		    { assay_options_rates, 0 },
		    { assay_options_budget, 0 },
		    { assay_options_verdicts, offsetof(struct compare_args, out) },
		    { assay_options_suspects, offsetof(struct compare_args, out) },
		    { assay_options_counters, 0 },
		    { assay_options_exact, 0 },
		    { options, 0 } },
	.argument = take_side,
	.check = check,
};

static int replay(const struct compare_args *a, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct assay_name_wanted wanted = { .db = a->c.s.r.db,
						  .kinds = ASSAY_STORED_COMPARISON,
						  .what = "--replay" };
	struct assay_compare_outcome out = { 0 };
	struct assay_stored_name n;
	int rc = assay_stored_name_read(a->replay, &wanted, &n, err);

	w->hold = true;
	if (!rc)
		rc = assay_compare_replay(&(struct assay_replay_request){ .db = a->c.s.r.db,
									  .id = n.id,
									  .strict = a->out.strict,
									  .suspects_fail = a->out.suspects_fail },
					  &w->watch, &out, err);
	if (!rc)
		rc = assay_compare_output_put(&out.report, &a->out, &a->c.s, err);
	*status = (int)out.report.exit;
	assay_compare_outcome_release(&out);
	return rc;
}

static int compare(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct compare_args *a = args;
	const struct assay_settings *s = &a->c.s;
	struct assay_compare_outcome out;
	char number[64], judge[ASSAY_INSTALLED_PATH_MAX];
	struct assay_text next = { 0 };
	struct assay_err why = { 0 };
	int rc = assay_compare_output_check(&a->out, err), put = 0;

	if (rc || a->replay)
		return rc ? rc : replay(a, w, status, err);
	a->c.s.r.take = a->take;
	a->c.q.strict = a->out.strict;
	a->c.q.suspects_fail = a->out.suspects_fail;
	w->show_head = !s->json;
	rc = assay_compare_measure(&a->c.q, &w->watch, &out, &why);
	if (out.judged)
		put = assay_compare_output_put(&out.report, &a->out, s, err);
	if (!put && rc)
		*err = why;
	if (!put && !rc && !s->json) {
		snprintf(number, sizeof(number), "compare --replay c%" PRId64, out.id);
		assay_command_text(judge, sizeof(judge), number, NULL, s->r.db);
		assay_cli_say("stored as c%" PRId64 " in %s; '%s' judges it again\n", out.id, s->r.db, judge);
		assay_next_of_comparison(&next, &a->c.q, &out.report, out.id);
		assay_cli_say("%s\n", next.s ? next.s : "");
		assay_text_release(&next);
	}
	*status = (int)out.report.exit;
	assay_compare_outcome_release(&out);
	return put ? put : rc;
}

int assay_cmd_compare(int argc, char **argv)
{
	struct compare_args a = { .c.q.what = &a.c.s.r,
				  .c.q.profile = ASSAY_PROFILE_CHANGED,
				  .take = ASSAY_TAKE_TIMES };

	return assay_command(&line, argc, argv, &a, compare);
}

int assay_cmd_compare_check(int argc, char **argv, struct assay_err *err)
{
	struct compare_args a = { 0 };

	return assay_command_check(&line, argc, argv, &a, NULL, err);
}
