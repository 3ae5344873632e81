/* SPDX-License-Identifier: Apache-2.0 */
/* assay show: stored runs and comparisons, one of them, or one case of it down to its raw samples. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/profile/kinds.h"
#include "drive/profile/profile.h"
#include "drive/show/name.h"
#include "drive/show/show.h"

struct show_args {
	struct assay_settings s;
	const char *name, *only;
	bool comparisons; /* their list */
	bool lines, sanitize;
	const char *out, *kind;
	bool samples;
	bool bottlenecks, pareto;
	const char *link;
	struct assay_link parsed; /* of it */
};

static int take_arg(void *args, const char *arg, struct assay_err *err)
{
	struct show_args *a = args;

	if (!a->name && !a->comparisons && !strcmp(arg, "comparisons")) {
		a->comparisons = true;
		return 0;
	}
	if (a->comparisons)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "unexpected argument '%s': one comparison is shown by 'assay show c3'", arg);
	if (!a->name) {
		a->name = arg;
		return 0;
	}
	if (a->only)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "unexpected argument '%s': show takes a run, comparison or profile, and a case",
				     arg);
	if (!arg[0])
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad case '': expected a part of a key or a glob, such as 'matmul.*'");
	a->only = arg;
	return 0;
}

static bool of_profile(const struct show_args *a)
{
	return a->lines || a->out || a->kind || a->sanitize;
}

static int check(void *args, struct assay_err *err)
{
	struct show_args *a = args;

	if (of_profile(a) && (a->samples || a->only))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--lines, --output, --kind and --sanitize apply to profiles, which have no cases: "
				     "assay show p3");
	if (a->samples && !a->only)
		return assay_err_set(err, ASSAY_EUSAGE, "--samples needs a case: assay show RUN CASE --samples");
	if (a->bottlenecks && (!a->name || a->samples))
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"--bottlenecks applies to the cases of a run: assay show RUN [CASE] --bottlenecks");
	if (a->pareto && (!a->name || a->samples || a->bottlenecks))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--pareto applies to the codecs of a run: assay show RUN [CASE] --pareto");
	if (a->link && !a->pareto)
		return assay_err_set(err, ASSAY_EUSAGE, "--link is for --pareto: assay show RUN --pareto --link %.40s",
				     a->link);
	if (of_profile(a) && !a->name)
		return assay_err_set(err, ASSAY_EUSAGE, "no profile given: assay show p3, a label, or last");
	return a->link ? assay_link_parse(a->link, &a->parsed, err) : 0;
}

static const struct assay_option options[] = {
	{ "samples", 'r', NULL, assay_option_flag, offsetof(struct show_args, samples),
	  "With a case, its raw samples as well" },
	{ "bottlenecks", 0, NULL, assay_option_flag, offsetof(struct show_args, bottlenecks),
	  "Say whether memory, compute, latency, allocation, imbalance or overhead bounds each case of a run, or the "
	  "case of a profile, and give advice with the expected gain" },
	{ "pareto", 0, NULL, assay_option_flag, offsetof(struct show_args, pareto),
	  "Codecs of a run: which no other beats, and which takes the least time over memory, a disk and a "
	  "network" },
	{ "link", 0, "RATE", assay_option_text, offsetof(struct show_args, link),
	  "With --pareto, over a link of this rate, such as 10Gb/s or 500MB/s" },
	{ "lines", 0, NULL, assay_option_flag, offsetof(struct show_args, lines),
	  "With a profile, the lines and instructions that take most as well" },
	{ "output", 'o', "FILE", assay_option_text, offsetof(struct show_args, out),
	  "With a profile, also write FILE: .svg is a flame graph, .folded its stacks for other viewers" },
	{ "sanitize", ASSAY_RARELY, NULL, assay_option_flag, offsetof(struct show_args, sanitize),
	  "With a profile, show and write it without paths, user and host names" },
	{ "kind", 0, "KIND", assay_option_profile_kind, offsetof(struct show_args, kind),
	  "With a profile, the newest of this kind: cpu, heap and so on (default: of any)" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "[RUN [CASE]]\nCOMPARISON [CASE]\nPROFILE\ncomparisons",
	.doc = "Without arguments, list the stored runs, and with 'comparisons' those. A run is named r3, a "
	       "comparison c3, a profile p3; each also by its label, and the newest of them by 'last'. A run or "
	       "comparison is shown as a table; with a case (a glob, or a part of its key) all that is known of "
	       "it is shown, down to the samples or process pairs.\v"
	       "examples:\n"
	       "  assay show last 'matmul.ternary/avx2/*' --samples\n"
	       "  assay show r3 --bottlenecks\n"
	       "  assay show r3 --pareto --link 10Gb/s\n"
	       "  assay show c3\n"
	       "  assay show p3 --lines",
	.tables = { ASSAY_OPTIONS_READING, { options, 0 } },
	.argument = take_arg,
	.check = check,
};

static int show_runs(const struct show_args *a, struct assay_err *err)
{
	struct assay_run_info *runs = NULL;
	size_t n = 0;
	int rc = assay_stored_runs(a->s.r.db, 0, &runs, &n, err);

	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUNS, .runs = { runs, n } }, a->s.json,
				    a->s.verbose, err);
	free(runs);
	return rc;
}

/* The whole run as text, and whether there is more to come. */
static int show_table(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out,
		      struct assay_err *err)
{
	int rc = assay_emit(r, "header", style, out, err);

	if (!rc)
		rc = assay_emit(r, "text", style, out, err);
	if (!rc && !r->run.run->ended_ns)
		assay_text_addf(out,
				"run %" PRId64 " did not finish, or is under way: only the cases above were measured\n",
				r->run.run->id);
	return rc;
}

static int show_run(const struct show_args *a, int64_t id, struct assay_err *err)
{
	struct assay_emit_style style = assay_cli_style();
	struct assay_run run;
	const struct assay_report r = { .kind = ASSAY_REPORT_RUN, .run = { .run = &run, .samples = a->samples } };
	struct assay_text out = { 0 };
	int rc = assay_stored_run(a->s.r.db, id, a->only, &run, err);

	style.verbose = a->s.verbose;
	if (!rc && a->pareto) {
		struct assay_pareto p;

		rc = assay_pareto_make(&run, a->link ? &a->parsed : NULL, &p, err);
		if (!rc)
			rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_PARETO, .pareto = &p },
					    a->s.json, a->s.verbose, err);
		free(p.codecs);
	} else if (!rc && (a->s.json || a->only))
		rc = assay_emit(&r, a->s.json ? "json" : "cases", &style, &out, err);
	else if (!rc)
		rc = show_table(&r, &style, &out, err);
	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	assay_run_release(&run);
	return rc;
}

static int show_bottlenecks(const struct show_args *a, int64_t run, struct assay_err *err)
{
	struct assay_bottleneck *v = NULL;
	size_t n = 0;
	int rc = assay_bottlenecks_find(a->s.r.db, &run, a->only, &v, &n, err);

	if (!rc)
		rc = assay_cli_emit(
			&(struct assay_report){ .kind = ASSAY_REPORT_BOTTLENECKS, .bottlenecks = { run, v, n } },
			a->s.json, a->s.verbose, err);
	free(v);
	return rc;
}

static int show_comparisons(const struct show_args *a, struct assay_err *err)
{
	struct assay_comparison_info *list = NULL;
	size_t n = 0;
	int rc = assay_stored_comparisons(a->s.r.db, &list, &n, err);

	if (!rc)
		rc = assay_cli_emit(
			&(struct assay_report){ .kind = ASSAY_REPORT_COMPARISONS, .comparisons = { list, n } },
			a->s.json, a->s.verbose, err);
	free(list);
	return rc;
}

static int show_comparison(const struct show_args *a, int64_t id, struct assay_err *err)
{
	struct assay_stored_comparison c;
	int rc = assay_stored_comparison(a->s.r.db, id, a->only, &c, err);

	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_COMPARISON,
							    .comparison = { .cmp = &c.cmp,
									    .readings = c.readings,
									    .verdict = c.verdict,
									    .pairs = a->only,
									    .samples = a->samples } },
				    a->s.json, a->s.verbose, err);
	assay_stored_comparison_release(&c);
	return rc;
}

static int show_profile(const struct show_args *a, struct assay_err *err)
{
	struct assay_profile p = { 0 };
	struct assay_bottleneck b;
	struct assay_report r = { .kind = ASSAY_REPORT_PROFILE, .profile = { .p = &p, .lines = a->lines } };
	int rc = a->out ? assay_user_path_error(assay_emit_check(ASSAY_REPORT_PROFILE, a->out, err), err) : 0;

	if (!rc)
		rc = assay_profile_find(a->s.r.db, a->name, a->kind, &p, err);
	if (!rc && a->bottlenecks) {
		rc = assay_bottleneck_of_profile(a->s.r.db, &p, &r.profile.run, &b, err);
		r.profile.bottleneck = &b;
	}
	if (!rc && a->sanitize)
		rc = assay_profile_sanitize(&p, err);
	if (!rc && a->out)
		rc = assay_user_path_error(assay_emit_file(&r, NULL, a->out, err), err);
	if (!rc)
		rc = assay_cli_emit(&r, a->s.json, a->s.verbose, err);
	assay_profile_release(&p);
	return rc;
}

/* The kinds that the options and a case leave. */
static unsigned kinds_of(const struct show_args *a)
{
	if (of_profile(a))
		return ASSAY_STORED_PROFILE;
	if (a->pareto || (a->bottlenecks && a->only))
		return ASSAY_STORED_RUN;
	if (a->bottlenecks)
		return ASSAY_STORED_RUN | ASSAY_STORED_PROFILE;
	if (a->only)
		return ASSAY_STORED_RUN | ASSAY_STORED_COMPARISON;
	return ASSAY_STORED_RUN | ASSAY_STORED_COMPARISON | ASSAY_STORED_PROFILE;
}

static int show(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct show_args *a = args;
	const struct assay_name_wanted wanted = { .db = a->s.r.db, .kinds = kinds_of(a), .what = "what to show" };
	struct assay_stored_name n = { 0 };
	int rc;

	(void)w;
	(void)status;
	if (!a->name)
		return a->comparisons ? show_comparisons(a, err) : show_runs(a, err);
	/* a label may have profiles of several kinds */
	if (of_profile(a))
		return show_profile(a, err);
	rc = assay_stored_name_read(a->name, &wanted, &n, err);
	if (rc)
		return rc;
	if (n.kind == ASSAY_STORED_PROFILE)
		return show_profile(a, err);
	if (n.kind == ASSAY_STORED_COMPARISON)
		return show_comparison(a, n.id, err);
	return a->bottlenecks ? show_bottlenecks(a, n.id, err) : show_run(a, n.id, err);
}

int assay_cmd_show(int argc, char **argv)
{
	struct show_args a = { 0 };

	return assay_command(&line, argc, argv, &a, show);
}
