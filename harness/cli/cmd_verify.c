/* SPDX-License-Identifier: Apache-2.0 */
/* assay verify: are the results right? Every case runs once in a worker and is checked; nothing is timed or stored. */
#include <errno.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "drive/measuring.h"
#include "measure/measure.h"

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
	"compared "
	"across variants and thread counts.\v"
	"The exit status is 0, 2 for bad usage, 3 when a result is wrong, 4 when a case crashed, timed out or "
	"failed or every case was skipped.\n\n"
	"example:\n  assay verify --suite smoke --plugin ./my-kernels.so",
	children,
	NULL,
	NULL,
};

static int check_and_print(const struct assay_measuring *m, struct assay_run *run, struct assay_err *err)
{
	struct assay_emit_style style = assay_cli_style();
	bool *changed = calloc(m->session->plan.n_cases + 1, sizeof(*changed));
	struct assay_text out = { 0 };
	int rc;

	if (!changed)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = assay_measuring_all(m, run, err);
	if (!rc)
		rc = assay_measure_finish(run, m->session->facts, &m->session->host, m->session->catalog, changed, err);
	if (!rc) {
		run->ended_ns = assay_clock_unix_ns();
		rc = m->settings->json ? assay_emit_run_json(run, false, &out, err)
				       : assay_emit_run_table(run, &style, &out, err);
	}
	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	free(changed);
	return rc;
}

static int verify(const struct assay_settings *s)
{
	struct assay_session session = { 0 };
	struct assay_run run = { 0 };
	struct assay_clock clock;
	struct assay_measuring m = { .settings = s, .session = &session, .clock = &clock, .verify_only = true };
	struct assay_err err = { 0 };
	int rc = assay_session_ready(&session, s, &err);

	if (!rc)
		rc = assay_clock_init(&clock, &err);
	if (!rc)
		rc = assay_measuring_describe(&m, &run, &err);
	if (!rc)
		rc = check_and_print(&m, &run, &err);
	rc = rc ? assay_cli_fail(&err) : assay_measuring_exit(&run);
	assay_run_release(&run);
	assay_session_close(&session);
	return rc;
}

int assay_cmd_verify(int argc, char **argv)
{
	struct assay_settings s;
	struct assay_err err = { 0 };
	int status, rc = assay_settings_init(&s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &s, &err);
	status = rc ? assay_cli_fail(&err) : verify(&s);
	assay_settings_release(&s);
	return status;
}
