/* SPDX-License-Identifier: Apache-2.0 */
/* assay doctor: what this machine can and cannot measure, and what to do about it. */
#include <errno.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/cli_options.h"
#include "counters/counter_health.h"
#include "machine/core_survey.h"
#include "machine/health.h"
#include "measure/sample_overhead.h"
#include "model/verdict.h"
#include "reports/columns.h"
#include "reports/json_parts.h"

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

static const char *const words[] = {
	[ASSAY_HEALTH_GOOD] = "ok",
	[ASSAY_HEALTH_WARN] = "warn",
	[ASSAY_HEALTH_MISSING] = "none",
};
static const char *const colours[] = {
	[ASSAY_HEALTH_GOOD] = "\033[32m",
	[ASSAY_HEALTH_WARN] = "\033[33m",
	[ASSAY_HEALTH_MISSING] = "\033[31m",
};

static int findings_text(const struct assay_finding *f, size_t n, const char *summary, struct assay_text *out)
{
	struct assay_emit_style style = assay_cli_style();
	struct assay_columns t = { .align = "lll", .width = style.width };
	size_t count[3] = { 0 };
	char word[32];

	assay_text_addf(out, "%s\n\n", summary);
	for (size_t i = 0; i < n; i++) {
		count[f[i].health]++;
		snprintf(word, sizeof(word), "%s%s%s", style.colour ? colours[f[i].health] : "", words[f[i].health],
			 style.colour ? "\033[0m" : "");
		assay_columns_tail(&t, (const char *const[]){ word, f[i].name }, 2, f[i].value);
		if (f[i].advice[0])
			assay_columns_tail(&t, (const char *const[]){ "", "" }, 2, f[i].advice);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	assay_text_addf(out, "\n%zu ok, %zu warn, %zu none\n", count[ASSAY_HEALTH_GOOD], count[ASSAY_HEALTH_WARN],
			count[ASSAY_HEALTH_MISSING]);
	return 0;
}

static int findings_json(const struct assay_finding *f, size_t n, const char *summary, const struct assay_clock *clock,
			 double sample_overhead_ns, struct assay_text *out, struct assay_err *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, json_pack("{s:s,s:s,s:o,s:o}", "name", f[i].name, "health", words[f[i].health],
						   "value", assay_json_text(f[i].value), "advice",
						   assay_json_text(f[i].advice)));
	return assay_json_print(json_pack("{s:i,s:o,s:{s:s,s:f,s:f,s:f,s:o},s:o}", "schema", 1, "topology",
					  assay_json_text(summary), "clock", "source",
					  assay_clock_source_name(clock->source), "resolution_ns", clock->resolution_ns,
					  "overhead_ns", clock->overhead_ns, "sample_overhead_ns", sample_overhead_ns,
					  "why", assay_json_text(clock->why), "findings", a),
				out, err);
}

static int doctor(const struct assay_settings *s, struct assay_text *out, struct assay_err *err)
{
	struct assay_topology *topology = NULL;
	struct assay_findings all = { 0 };
	struct assay_clock clock;
	double overhead_ns = 0;
	char summary[256];
	int rc = assay_topology_open(&topology, NULL, err);

	if (!rc)
		rc = assay_clock_init(&clock, err);
	if (!rc)
		rc = assay_doctor(topology, &clock, &all, err);
	if (!rc) {
		assay_core_survey(topology, &clock, &all);
		overhead_ns = assay_sample_overhead_ns(&clock);
		assay_sample_overhead_add(&all, overhead_ns);
		assay_counter_health_add(&all);
		if (all.failed)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for what was found");
	}
	if (!rc) {
		assay_topology_summary(topology, summary, sizeof(summary));
		rc = s->json ? findings_json(all.v, all.n, summary, &clock, overhead_ns, out, err)
			     : findings_text(all.v, all.n, summary, out);
	}
	assay_findings_release(&all);
	assay_topology_close(topology);
	return rc;
}

int assay_cmd_doctor(int argc, char **argv)
{
	struct assay_settings s;
	struct assay_text out = { 0 };
	struct assay_err err = { 0 };
	int rc = assay_settings_init(&s, &err);

	if (!rc)
		rc = assay_cli_parse(&argp, argc, argv, &s, &err);
	if (!rc)
		rc = doctor(&s, &out, &err);
	if (!rc)
		assay_cli_put(&out);
	assay_text_release(&out);
	assay_settings_release(&s);
	return rc ? assay_cli_fail(&err) : ASSAY_EXIT_OK;
}
