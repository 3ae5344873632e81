/* SPDX-License-Identifier: Apache-2.0 */
/* assay doctor: what this machine can and cannot measure, and what to do about it. */
#include <errno.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/doctor.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct assay_settings *s = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		assay_cli_parse_children(state);
		return 0;
	case ARGP_KEY_ARG:
		assay_err_set(&s->err, ASSAY_EUSAGE, "unexpected argument '%s': doctor takes none", arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &assay_argp_output, 0, NULL, 0 },
	{ &assay_argp_help, 0, NULL, 0 },
	{ 0 },
};
static const struct argp argp = {
	NULL,
	parse,
	NULL,
	"Say what this machine can and cannot measure, and how to fix it.\v"
	"'ok' is as good as it gets, 'warn' measures worse than it could, 'none' is not there. The exit status is 0: a "
	"machine is never wrong.\n\nexample:\n  assay doctor",
	children,
	NULL,
	NULL,
};

static int doctor(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct assay_settings *s = args;
	struct assay_health_check c;
	int rc = assay_health_check(&c, err);

	(void)w;
	(void)status;
	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_HEALTH,
							    .health = { .topology = c.topology,
									.clock = c.clock_name,
									.clock_why = c.clock.why,
									.clock_resolution_ns = c.clock.resolution_ns,
									.clock_overhead_ns = c.clock.overhead_ns,
									.sample_overhead_ns = c.sample_overhead_ns,
									.findings = c.findings.v,
									.n_findings = c.findings.n } },
				    s->json, s->verbose, err);
	assay_health_check_release(&c);
	return rc;
}

int assay_cmd_doctor(int argc, char **argv)
{
	struct assay_settings s;

	return assay_command(&argp, argc, argv, &s, doctor);
}
