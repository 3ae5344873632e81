/* SPDX-License-Identifier: Apache-2.0 */
/* assay baseline: save, list, show and drop named baselines, each a set of runs of one machine and suite. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/gate/gate.h"
#include "drive/show/name.h"

enum verb { VERB_NONE, VERB_SAVE, VERB_LIST, VERB_SHOW, VERB_DROP, VERB_UPDATE };

struct baseline_args {
	struct assay_settings s;
	enum verb verb;
	const char *name, *run; /* run NULL: the newest finished one */
	bool exact, prune;
	const char *suite, *exact_file;
};

static const char *const verbs[] = { "save", "list", "show", "drop", "update" };

static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct baseline_args *a = args;

	if (a->verb == VERB_NONE) {
		for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
			if (!strcmp(arg, verbs[i]))
				a->verb = (enum verb)(i + 1);
		if (a->verb == VERB_NONE)
			return assay_err_set(err, ASSAY_EUSAGE,
					     "unknown action '%s': expected save, list, show, drop or update", arg);
		return 0;
	}
	if (a->name || a->verb == VERB_LIST || a->verb == VERB_UPDATE)
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': a run is named with --run", arg);
	if (!arg[0] || strlen(arg) >= ASSAY_NAME_MAX)
		return assay_err_set(err, ASSAY_EUSAGE, "name is '%s', expected 1 to %d letters", arg,
				     ASSAY_NAME_MAX - 1);
	if (a->verb == VERB_SAVE && assay_stored_name_is(arg))
		return assay_err_set(err, ASSAY_EUSAGE, "bad name '%s': 'last', numbers, r3, c3 and p3 are taken", arg);
	a->name = arg;
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct baseline_args *a = args;

	if (a->verb == VERB_NONE)
		return assay_err_set(err, ASSAY_EUSAGE, "no action given: expected save, list, show, drop or update");
	if (a->exact != (a->verb == VERB_UPDATE))
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"only exact counts are updated, and only with update: assay baseline update --exact");
	if (a->prune && a->verb != VERB_UPDATE)
		return assay_err_set(err, ASSAY_EUSAGE, "only update prunes: assay baseline update --exact --prune");
	if (!a->name && a->verb != VERB_LIST && a->verb != VERB_UPDATE)
		return assay_err_set(err, ASSAY_EUSAGE, "no name given: assay baseline %s NAME", verbs[a->verb - 1]);
	return 0;
}

#define AT(member) offsetof(struct baseline_args, member)

static const struct assay_option options[] = {
	{ "run", 0, "RUN", assay_option_text, AT(run),
	  "Run to save, such as r3, or whose exact counts to record (default: last, the newest)" },
	{ "exact", 0, NULL, assay_option_flag, AT(exact),
	  "With update: record exact counts in the file that is committed" },
	{ "suite", 's', "NAME", assay_option_text, AT(suite),
	  "With update: the suite (default " ASSAY_DEFAULT_SUITE ")" },
	{ "prune", ASSAY_RARELY, NULL, assay_option_flag, AT(prune),
	  "With update: remove the records of cases that were not counted" },
	{ "exact-file", ASSAY_RARELY, "FILE", assay_option_text, AT(exact_file),
	  "With update: the file (default baselines/exact/SUITE.json)" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "save NAME\nlist\nshow NAME\ndrop NAME\nupdate --exact",
	.doc = "Save runs as the baseline that later runs are judged against. Saving another run under the same "
	       "name adds it to the baseline: the more runs, the better the machine's own noise is known.\v"
	       "example:\n"
	       "  assay run && assay baseline save main\n"
	       "  assay run --evidence exact && assay baseline update --exact",
	.tables = { ASSAY_OPTIONS_READING, { options, 0 } },
	.argument = set_argument,
	.check = check,
};

static int say(const struct baseline_args *a, const struct assay_report_baseline *done, struct assay_err *err)
{
	return assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_BASELINE, .baseline = *done }, a->s.json,
			      a->s.verbose, err);
}

static int save(const struct baseline_args *a, struct assay_err *err)
{
	int64_t id = 0;
	int rc = a->run ? assay_stored_run_read(a->s.r.db, a->run, "--run", &id, err) : 0;

	if (!rc)
		rc = assay_baseline_save(a->s.r.db, a->name, &id, err);

	return rc ? rc : say(a, &(struct assay_report_baseline){ .saved = a->name, .run = id }, err);
}

static int update(const struct baseline_args *a, struct assay_err *err)
{
	struct assay_gate_request q = { .suite = a->suite, .exact_file = a->exact_file, .db = a->s.r.db };
	struct assay_baseline_update u;
	int rc = a->run ? assay_stored_run_read(q.db, a->run, "--run", &q.run_id, err) : 0;

	if (!rc)
		rc = assay_baseline_update(&q, a->prune, &u, err);

	if (rc)
		return rc;
	return say(a, &(struct assay_report_baseline){ .updated = u.path, .n_cases = u.n_cases, .n_kept = u.n_kept },
		   err);
}

static int drop(const struct baseline_args *a, struct assay_err *err)
{
	int rc = assay_baseline_drop(a->s.r.db, a->name, err);

	return rc ? rc : say(a, &(struct assay_report_baseline){ .dropped = a->name }, err);
}

/* All of them, or only the one that was named. */
static int print(const struct baseline_args *a, struct assay_err *err)
{
	struct assay_baseline_info *v = NULL;
	size_t n = 0;
	int rc = assay_baseline_list(a->s.r.db, a->name, &v, &n, err);

	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_BASELINES, .baselines = { v, n } },
				    a->s.json, a->s.verbose, err);
	assay_baseline_infos_release(v, n);
	return rc;
}

static int act(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct baseline_args *a = args;

	(void)w;
	(void)status;
	switch (a->verb) {
	case VERB_SAVE:
		return save(a, err);
	case VERB_DROP:
		return drop(a, err);
	case VERB_UPDATE:
		return update(a, err);
	default:
		return print(a, err);
	}
}

int assay_cmd_baseline(int argc, char **argv)
{
	struct baseline_args a = { 0 };

	return assay_command(&line, argc, argv, &a, act);
}
