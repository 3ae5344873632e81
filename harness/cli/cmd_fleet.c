/* SPDX-License-Identifier: Apache-2.0 */
/* assay fleet: a suite on all nodes of a Slurm partition, judged together. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/fleet/fleet.h"
#include "reports/emitter.h"

struct fleet_args {
	struct assay_settings s;
	struct assay_fleet_request q;
	const char *output;
};

#define MOST_NODES 100000

/* SUITE [BASE [HEAD]], and after -- what the nodes' commands get. */
static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct assay_fleet_request *q = &((struct fleet_args *)args)->q;

	if (q->more.n || arg[0] == '-')
		return assay_strings_add(&q->more, arg, err);
	if (!q->suite)
		q->suite = arg;
	else if (!q->base)
		q->base = arg;
	else if (!q->head)
		q->head = arg;
	else
		return assay_err_set(err, ASSAY_EUSAGE,
				     "unexpected argument '%s': fleet takes SUITE, BASE and HEAD, and options of "
				     "'assay %s' after --",
				     arg, q->gate ? "compare" : "run");
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct fleet_args *a = args;
	const struct assay_fleet_request *q = &a->q;

	if (!q->suite)
		return assay_err_set(err, ASSAY_EUSAGE, "no suite given: assay fleet quick --slurm PARTITION");
	if (!q->partition)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "no --slurm given: name the partition whose nodes measure; 'sinfo' lists them");
	if (q->base && !q->gate)
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': only --gate compares with a BASE",
				     q->base);
	if (q->nodes && q->per_kind)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--nodes counts all nodes, and --per-kind those of each kind: drop one");
	if (q->shard && q->gate)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--shard divides a run, and --gate compares on every node: drop one");
	return a->output ? assay_emit_check(ASSAY_REPORT_FLEET, a->output, err) : 0;
}

static int set_nodes(void *to, const char *arg, const char *name, struct assay_err *err)
{
	uint64_t n;
	int rc = assay_parse_u64(arg, name, 1, MOST_NODES, &n, err);

	if (!rc)
		*(unsigned *)to = (unsigned)n;
	return rc;
}

#define AT(member) offsetof(struct fleet_args, q.member)

static const struct assay_option options[] = {
	{ "slurm", 0, "PARTITION", assay_option_text, AT(partition), "The partition whose nodes measure" },
	{ "nodes", 0, "N", set_nodes, AT(nodes), "How many of them (default: all)" },
	{ "per-kind", 0, "N", set_nodes, AT(per_kind),
	  "Measure on this many nodes of each kind, that is, with the same sockets, cores, memory, features and "
	  "devices in "
	  "Slurm" },
	{ "gate", 0, NULL, assay_option_flag, AT(gate),
	  "Compare BASE (default: where HEAD left the main branch) with HEAD on each node, in place of a run" },
	{ "shard", 0, NULL, assay_option_flag, AT(shard),
	  "Measure each case on one node instead of all: for nodes of one kind, when time is short" },
	{ "dir", 0, "FOLDER", assay_option_text, AT(dir),
	  "Where the jobs leave databases and logs, on a file system that all nodes share (default " ASSAY_FLEET_DIR
	  ")" },
	{ "start-within", 0, "TIME", assay_option_duration, AT(start_within_ns),
	  "A node whose job waits longer than this is not measured (default 1h)" },
	{ "policy", 0, "FILE", assay_option_text, AT(policy),
	  "Margins, rates and limits (default baselines/policy.conf)" },
	{ "manifest", ASSAY_RARELY, "FILE", assay_option_text, AT(manifest),
	  "Cases that each node must measure (default baselines/SUITE.manifest)" },
	{ "output", 'o', "FILE.html", assay_option_text, offsetof(struct fleet_args, output),
	  "Also write the matrix as an HTML page" },
	{ "strict", 0, NULL, assay_option_flag, AT(strict), "INCONCLUSIVE fails too, with status 6" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "SUITE --slurm PARTITION [-- OPTION...]\nSUITE [BASE [HEAD]] --slurm PARTITION --gate [-- OPTION...]",
	.doc = "Measure a suite on each node of a Slurm partition, one job a node in one array, merge the results into "
	       "the database "
	       "and judge them: a run as 'assay gate' does, by manifest, limits and the earlier runs of the same kind "
	       "of machine. The nodes run this program from where it lies, so it has to be on a file system that they "
	       "share. Options after -- go to the 'assay run' or, with --gate, the 'assay compare' of each node.\n"
	       "Ctrl-C cancels the jobs and keeps what is measured; the same command then goes on with the rest, and "
	       "so it does after a node failed.\v"
	       "The exit status is the most severe of all nodes: 0 when all is well, 1 REGRESSED, 2 bad usage or no "
	       "Slurm, "
	       "3 WRONG_RESULT, 4 NOT_MEASURED, also for a node that failed or did not start, 5 INCOMPARABLE, a "
	       "machine without a baseline while others have one, 6 INCONCLUSIVE with --strict, 130 when "
	       "interrupted.\n"
	       "\n"
	       "examples:\n"
	       "  assay fleet quick --slurm cpu -o fleet.html\n"
	       "  assay fleet quick main --slurm cpu --gate -- --budget 5s",
	.tables = { { options, 0 }, ASSAY_OPTIONS_READING },
	.argument = set_argument,
	.check = check,
};

/* The nodes would refuse it as well, but only once they have a job. */
static int check_nodes_command(const struct assay_fleet_request *q, struct assay_err *err)
{
	const char **argv = calloc(q->more.n + 6, sizeof(*argv));
	int argc = 0, rc;

	if (!argv)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	argv[argc++] = q->gate ? "assay compare" : "assay run";
	argv[argc++] = "--suite";
	argv[argc++] = q->suite;
	if (q->gate) {
		argv[argc++] = q->base ? q->base : "HEAD";
		argv[argc++] = q->head ? q->head : "HEAD";
	}
	for (size_t i = 0; i < q->more.n; i++)
		argv[argc++] = q->more.v[i];
	rc = q->gate ? assay_cmd_compare_check(argc, (char **)argv, err)
		     : assay_cmd_run_check(argc, (char **)argv, err);
	free(argv);
	return rc;
}

static int fleet(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct fleet_args *a = args;
	struct assay_fleet_report report;
	const struct assay_report shown = { .kind = ASSAY_REPORT_FLEET, .fleet = &report };
	int rc = check_nodes_command(&a->q, err);

	if (rc)
		return rc;
	a->q.db = a->s.r.db;
	w->show_head = !a->s.json;
	rc = assay_fleet(&a->q, &w->watch, &report, err);
	if (!rc)
		rc = assay_cli_emit(&shown, a->s.json, a->s.verbose, err);
	if (!rc && a->output)
		rc = assay_emit_file(&shown, NULL, a->output, err);
	*status = (int)report.exit;
	assay_fleet_report_release(&report);
	return rc;
}

int assay_cmd_fleet(int argc, char **argv)
{
	struct fleet_args a = { 0 };
	const int status = assay_command(&line, argc, argv, &a, fleet);

	assay_strings_release(&a.q.more);
	return status;
}
