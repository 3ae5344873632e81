/* SPDX-License-Identifier: Apache-2.0 */
/* assay verify: are the results right? Every case runs once in a worker and is checked; nothing is timed or stored. */
#include "cli/cli.h"
#include "cli/command.h"
#include "drive/run/run.h"

static int refuse(void *args, const char *arg, struct assay_err *err)
{
	(void)args;
	return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': a suite is named with --suite %s", arg, arg);
}

static const struct assay_command_line line = {
	.doc = "Check that the results of a suite are right, without measuring or storing anything. Exact results "
	       "are also compared across variants and thread counts.\v"
	       "The exit status is 0, 2 for bad usage, 3 when a result is wrong, 4 when a case crashed, timed out "
	       "or failed or every case was skipped.\n"
	       "\n"
	       "example:\n"
	       "  assay verify --suite smoke --plugin ./my-kernels.so",
	.tables = { { assay_options_load, 0 },
		    { assay_options_models, 0 },
		    { assay_options_select, 0 },
		    { assay_options_place, 0 },
		    { assay_options_measure, 0 },
		    { assay_options_output, 0 } },
	.argument = refuse,
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

	return assay_command(&line, argc, argv, &s, verify);
}
