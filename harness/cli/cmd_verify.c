/* SPDX-License-Identifier: Apache-2.0 */
/* assay verify: are the results right? Every case runs once in a worker and is checked; nothing is timed or stored. */
#include <errno.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/run.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct assay_settings *s = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		assay_cli_parse_children(state);
		return 0;
	case ARGP_KEY_ARG:
		assay_err_set(&s->err, ASSAY_EUSAGE, "unexpected argument '%s': a suite is named with --suite %s", arg,
			      arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &assay_argp_select, 0, NULL, 0 }, { &assay_argp_place, 0, NULL, 0 }, { &assay_argp_measure, 0, NULL, 0 },
	{ &assay_argp_output, 0, NULL, 0 }, { &assay_argp_help, 0, NULL, 0 },  { 0 },
};
static const struct argp argp = {
	NULL,
	parse,
	NULL,
	"Check that the results of a suite are right, without measuring or storing anything. Exact results are also "
	"compared across variants and thread counts.\v"
	"The exit status is 0, 2 for bad usage, 3 when a result is wrong, 4 when a case crashed, timed out or "
	"failed or every case was skipped.\n\n"
	"example:\n  assay verify --suite smoke --plugin ./my-kernels.so",
	children,
	NULL,
	NULL,
};

static int verify(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct assay_settings *s = args;
	struct assay_run run;
	int rc = assay_run_verify(&s->r, &w->watch, &run, err);

	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUN, .run = { .run = &run } }, s->json,
				    false, err);
	if (!rc)
		*status = (int)assay_run_exit(&run, &w->watch);
	assay_run_release(&run);
	return rc;
}

int assay_cmd_verify(int argc, char **argv)
{
	struct assay_settings s;

	return assay_command(&argp, argc, argv, &s, verify);
}
