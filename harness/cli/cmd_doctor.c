/* SPDX-License-Identifier: Apache-2.0 */
/* assay doctor: what this machine can and cannot measure, and what to do about it. */
#include "cli/cli.h"
#include "cli/command.h"
#include "drive/machine/doctor.h"

static int refuse(void *args, const char *arg, struct assay_err *err)
{
	(void)args;
	return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': doctor takes none", arg);
}

static const struct assay_command_line line = {
	.doc = "Say what this machine can measure, and how to improve that.\v"
	       "The first lines say what can be measured here. In the list below them, 'ok' is as good as it "
	       "gets, 'warn' makes measurements worse than they could be, and 'none' is missing. The exit status "
	       "is 0 whatever is found.\n"
	       "\n"
	       "example:\n"
	       "  assay doctor",
	.tables = { { assay_options_output, 0 } },
	.argument = refuse,
};

static int doctor(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct assay_settings *s = args;
	struct assay_health_check c;
	int rc = assay_health_check(&c, err);

	(void)w;
	(void)status;
	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_HEALTH, .health = &c }, s->json,
				    s->verbose, err);
	assay_health_check_release(&c);
	return rc;
}

int assay_cmd_doctor(int argc, char **argv)
{
	struct assay_settings s;

	return assay_command(&line, argc, argv, &s, doctor);
}
