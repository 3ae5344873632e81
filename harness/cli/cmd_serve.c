/* SPDX-License-Identifier: Apache-2.0 */
/* assay serve: metrics, a dashboard and jobs over HTTP. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/profile/profile.h"
#include "drive/show/show.h"
#include "serve/serve.h"

struct serve_args {
	struct assay_settings s;
	struct assay_serve_request q;
	struct assay_strings hosts;
};

static int refuse(void *args, const char *arg, struct assay_err *err)
{
	(void)args;
	return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': an address is named with --listen %s", arg,
			     arg);
}

static int add_host(void *to, const char *arg, const char *name, struct assay_err *err)
{
	(void)name;
	return assay_strings_add(to, arg, err);
}

static int set_kinds(void *to, const char *arg, const char *name, struct assay_err *err)
{
	struct assay_err why = { 0 };
	const int rc = assay_profile_kinds_check(arg, &why);

	*(const char **)to = arg;
	return rc ? assay_err_set(err, rc, "%s is '%.100s': %s", name, arg, why.text) : 0;
}

#define AT(member) offsetof(struct serve_args, member)

static const struct assay_option options[] = {
	{ "listen", 0, "ADDRESS:PORT", assay_option_text, AT(q.listen),
	  "Where to listen (default " ASSAY_SERVE_LISTEN "); port 0 takes one that is free" },
	{ "token-file", 0, "FILE", assay_option_text, AT(q.token_file),
	  "File with the token that whoever starts a job has to send; only its owner may read it (default: a token is "
	  "drawn and printed)" },
	{ "model", 0, "NAME", assay_option_text, AT(q.model),
	  "Load this model of the suite 'serve', such as tiny, for POST /v1/chat/completions" },
	{ "profile", 0, "KIND,...", set_kinds, AT(q.kinds),
	  "Kinds of profile to take when a request names none, such as cpu,heap,gpu (default: as "
	  "ASSAY_PROFILE says, else cpu)" },
	{ "policy", 0, "FILE", assay_option_text, AT(q.policy),
	  "The policy whose alerts are shown (default baselines/policy.conf, where there is one)" },
	{ "allow-host", ASSAY_RARELY, "NAME", add_host, AT(hosts),
	  "Also answer requests for this name, such as that of a proxy; may be given again" },
	{ 0 },
};
static const struct assay_command_line line = {
	.doc = "Serve what is stored and what goes on: a dashboard, metrics for Prometheus at /metrics, health checks "
	       "at "
	       "/healthz and /readyz, the JSON of the commands below /api, and profiles below /admin/profile. "
	       "Everybody on this machine may look; starting a run, and seeing a profile, takes the token, as in "
	       "'Authorization: Bearer TOKEN'. Ctrl-C ends the server and the job that is under way; what that had "
	       "finished is kept. So does SIGTERM, and the exit status is 0 then.\v"
	       "The sections of assay.conf say how profiles are taken and how many stay.\n"
	       "\n"
	       "examples:\n"
	       "  assay serve\n"
	       "  assay serve --model tiny\n"
	       "  assay serve --listen 0.0.0.0:8080 --token-file ~/.assay-token",
	.tables = { { options, 0 }, { assay_options_load, 0 }, ASSAY_OPTIONS_READING },
	.argument = refuse,
	.until_terminated = true,
};

static void ready(void *arg, const char *url, const char *token)
{
	const struct serve_args *a = arg;

	assay_interrupt_hold();
	if (a->s.json)
		assay_cli_say("{\"schema\":1,\"url\":\"%s\",\"token\":\"%s\"}\n", url, token);
	else
		assay_cli_say("%s/profiling/dashboard%s%s\n", url, token[0] ? "#" : "", token);
	fflush(stdout);
}

static int serve(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct serve_args *a = args;
	int rc;

	(void)status;
	rc = assay_project_profiling(&a->q.profiling, err);
	if (!rc && !a->q.kinds)
		rc = set_kinds(&a->q.kinds, getenv("ASSAY_PROFILE") ? getenv("ASSAY_PROFILE") : "cpu", "ASSAY_PROFILE",
			       err);
	if (rc)
		return rc;
	a->q.what = &a->s.r;
	if (a->q.policy) {
		struct assay_alert_report r;

		rc = assay_alerts(a->q.policy, NULL, &r, err);
		assay_alerts_release(&r);
		if (rc)
			return rc;
	}
	a->q.hosts = &a->hosts;
	a->q.interrupted = w->watch.interrupted;
	a->q.ready = ready;
	a->q.arg = a;
	rc = assay_serve(&a->q, err);
	if (rc || *a->q.interrupted == SIGTERM)
		return rc;
	return assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted");
}

int assay_cmd_serve(int argc, char **argv)
{
	struct serve_args a = { 0 };
	const int status = assay_command(&line, argc, argv, &a, serve);

	assay_strings_release(&a.hosts);
	return status;
}
