/* SPDX-License-Identifier: Apache-2.0 */
/* assay doctor: what this machine can and cannot measure, and what to do about it. */
#include <errno.h>

#include "cli/cli.h"
#include "cli/cli_options.h"
#include "counters/counter_health.h"
#include "machine/core_survey.h"
#include "machine/health.h"
#include "measure/sample_overhead.h"
#include "model/verdict.h"

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
	"machine is "
	"never wrong.\n\nexample:\n  assay doctor",
	children,
	NULL,
	NULL,
};

static int doctor(const struct assay_settings *s, struct assay_err *err)
{
	struct assay_topology *topology = NULL;
	struct assay_findings all = { 0 };
	struct assay_report r = { .kind = ASSAY_REPORT_HEALTH };
	struct assay_clock clock;
	char summary[256];
	int rc = assay_topology_open(&topology, NULL, err);

	if (!rc)
		rc = assay_clock_init(&clock, err);
	if (!rc)
		rc = assay_doctor(topology, &clock, &all, err);
	if (!rc) {
		assay_core_survey(topology, &clock, &all);
		r.health.sample_overhead_ns = assay_sample_overhead_ns(&clock);
		assay_sample_overhead_add(&all, r.health.sample_overhead_ns);
		assay_counter_health_add(&all);
		if (all.failed)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for what was found");
	}
	if (!rc) {
		assay_topology_summary(topology, summary, sizeof(summary));
		r.health.topology = summary;
		r.health.clock = assay_clock_source_name(clock.source);
		r.health.clock_why = clock.why;
		r.health.clock_resolution_ns = clock.resolution_ns;
		r.health.clock_overhead_ns = clock.overhead_ns;
		r.health.findings = all.v;
		r.health.n_findings = all.n;
		rc = assay_cli_emit(&r, s->json, s->verbose, err);
	}
	assay_findings_release(&all);
	assay_topology_close(topology);
	return rc;
}

int assay_cmd_doctor(int argc, char **argv)
{
	struct assay_settings s;
	struct assay_err err = { 0 };
	int rc = assay_settings_init(&s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &s, &err);
	if (!rc)
		rc = doctor(&s, &err);
	assay_settings_release(&s);
	return rc ? assay_cli_fail(&err) : ASSAY_EXIT_OK;
}
