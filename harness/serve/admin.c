/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs, by the names of suites, cases and kinds of profiles: no path and no command line comes from a request, and a
 * name that could be an option of a command is refused.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drive/history/history.h"
#include "drive/profile/profile.h"
#include "drive/session.h"
#include "drive/show/show.h"
#include "reports/emitter.h"
#include "serve/http.h"

#define DURATION_MOST_S 3600
#define EVERY_LEAST_S   1
#define EVERY_MOST_S    (7 * 24 * 3600)

/* A key or a glob of one: it begins as the name of an op does, and is printable. */
static bool is_key(const char *s)
{
	if (!isalnum((unsigned char)s[0]) && s[0] != '*')
		return false;
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

/* 0, or ASSAY_ENOTFOUND. */
static int suite_is_known(const struct assay_http_query *q, const char *suite, struct assay_err *err)
{
	struct assay_request r = *q->server->q->what; /* what it owns stays the server's */

	r.plan.suite = suite;
	if (!assay_session_suite_check(&r, err))
		return 0;
	err->code = ASSAY_ENOTFOUND;
	return err->code;
}

static void add(struct assay_strings *argv, const char *option, const char *value, struct assay_err *err)
{
	if (!err->code)
		assay_strings_add(argv, option, err);
	if (!err->code && value)
		assay_strings_add(argv, value, err);
}

/* Of every command that measures. */
static void add_common(const struct assay_http_query *q, struct assay_strings *argv, struct assay_err *err)
{
	const struct assay_request *what = q->server->q->what;

	add(argv, "--db", what->db, err);
	if (what->plan.bench_dir)
		add(argv, "--bench-dir", what->plan.bench_dir, err);
	if (what->no_default_plugins)
		add(argv, "--no-default-plugins", NULL, err);
	for (size_t i = 0; i < what->plugins.n; i++)
		add(argv, "--plugin", what->plugins.v[i], err);
	add(argv, "--progress", "json", err);
	add(argv, "--json", NULL, err);
}

/*
 * Start a job, and answer once it has found what it is about, because the command knows best whether there is such a
 * case.
 */
static void ask(const struct assay_http_query *q, const char *kind, const char *what, struct assay_strings *argv,
		struct assay_err *err, uint64_t *id, struct assay_http_answer *a)
{
	struct assay_server_job job;

	if (!err->code)
		assay_jobs_ask(&q->server->jobs, kind, what, argv, id, err);
	assay_strings_release(argv);
	if (err->code) {
		assay_http_fail_err(a, err);
		return;
	}
	assay_jobs_wait_begun(&q->server->jobs, *id, &job);
	if (job.id == *id && job.code && !job.stopped) {
		assay_http_fail_job(a, &job);
		return;
	}
	a->status = 202;
	assay_http_json(
		a, json_pack("{s:i,s:I,s:s,s:s}", "schema", 1, "job", (json_int_t)*id, "kind", kind, "what", what));
}

/* POST /api/runs {"suite": NAME, "only": GLOB} */
void assay_serve_run(const struct assay_http_query *q, struct assay_http_answer *a)
{
	const char *suite = assay_http_text(q, "suite"), *only = assay_http_text(q, "only");
	struct assay_strings argv = { 0 };
	struct assay_err err = { 0 };
	uint64_t id;

	if (!suite)
		suite = ASSAY_DEFAULT_SUITE;
	if (only && !is_key(only)) {
		assay_http_fail(a, 400, "bad only '%.100s': expected a key, or a glob of keys", only);
		return;
	}
	if (suite_is_known(q, suite, &err)) {
		assay_http_fail_err(a, &err);
		return;
	}
	add(&argv, "run", NULL, &err);
	add(&argv, "--suite", suite, &err);
	if (only)
		add(&argv, "--only", only, &err);
	add_common(q, &argv, &err);
	ask(q, "run", suite, &argv, &err, &id, a);
}

/* ---- profiles ---- */

/* The kind that a path or the field "kind" names: the paths speak of memory where the commands speak of the heap. */
static const char *kind_of(const struct assay_http_query *q, const char *path)
{
	const char *kind = assay_http_text(q, "kind");

	if (strstr(path, "/cpu") || strstr(path, "/flamegraph"))
		return "cpu";
	if (strstr(path, "/memory"))
		return "heap";
	if (strstr(path, "/gpu"))
		return "gpu";
	return !kind ? q->server->q->kinds : !strcmp(kind, "memory") ? "heap" : kind;
}

/* How long a profile takes where the request does not say. */
static double seconds_of(const struct assay_http_query *q, const char *path, const char *kinds)
{
	const struct assay_profiling_conf *c = &q->server->q->profiling;
	const uint64_t ns = strstr(path, "/flamegraph") ? c->flamegraph_for_ns
			    : !strcmp(kinds, "heap")    ? c->memory_for_ns
			    : !strcmp(kinds, "gpu")     ? c->gpu_for_ns
							: c->cpu_for_ns;

	return (double)ns * 1e-9;
}

/* The suite of the newest run that has the case, which is free()d; NULL: none has. */
static char *suite_of(const struct assay_http_query *q, const char *key)
{
	const struct assay_history_request r = { .db = q->server->q->what->db, .key = key };
	struct assay_case_history h = { 0 };
	struct assay_run run = { 0 };
	char *suite = NULL;

	if (!assay_case_history(&r, &h, NULL) &&
	    !assay_stored_run(r.db, h.points[h.n_points - 1].run_id, key, &run, NULL))
		suite = strdup(run.suite);
	assay_run_release(&run);
	assay_case_history_release(&h);
	return suite;
}

/*
 * Start a profile of ?case=KEY for ?duration=SECONDS, under ?name=NAME; continuous ones again each ?interval=SECONDS.
 * False, with the answer, where that cannot be.
 */
static bool start_profile(const struct assay_http_query *q, const char *path, uint64_t *id, struct assay_http_answer *a)
{
	const char *key = assay_http_text(q, "case"), *name = assay_http_text(q, "name"),
		   *named = assay_http_text(q, "suite"), *kind = kind_of(q, path);
	const struct assay_profiling_conf *conf = &q->server->q->profiling;
	const bool again = strstr(path, "/continuous");
	struct assay_strings argv = { 0 };
	struct assay_err err = { 0 };
	double for_s, every_s;
	char text[32], what[256], *suite;

	if (!key || !is_key(key)) {
		assay_http_fail(a, 400, "%s: expected case=KEY, one of those in /api/cases",
				key ? "the case is not a key" : "no case given");
		return false;
	}
	if (!assay_http_number(q, "duration", 0.01, DURATION_MOST_S, seconds_of(q, path, kind), &for_s, a) ||
	    !assay_http_number(q, "interval", EVERY_LEAST_S, EVERY_MOST_S, 300, &every_s, a))
		return false;
	if (!name)
		name = "server";
	/* the profile is found again by its name, in a path */
	if (strpbrk(name, "/<>\"&%?#")) {
		assay_http_fail(a, 400, "bad name '%.64s': it stands in paths and pages, without / < > \" & %% ? #",
				name);
		return false;
	}
	if (assay_profile_kinds_check(kind, &err) || assay_profile_name_check(name, &err) ||
	    (named && suite_is_known(q, named, &err))) {
		assay_http_fail_err(a, &err);
		return false;
	}
	add(&argv, "profile", NULL, &err);
	add(&argv, kind, key, &err);
	snprintf(text, sizeof(text), "%.9gs", for_s);
	add(&argv, "--for", text, &err);
	add(&argv, "--name", name, &err);
	snprintf(text, sizeof(text), "%" PRIu64, conf->keep_profiles);
	add(&argv, "--keep", text, &err);
	snprintf(text, sizeof(text), "%" PRIu64, conf->keep_days);
	add(&argv, "--keep-days", text, &err);
	if (strstr(path, "/flamegraph")) {
		snprintf(text, sizeof(text), "%" PRIu64, conf->flamegraph_rate_hz);
		add(&argv, "--rate", text, &err);
	}
	if (again) {
		snprintf(text, sizeof(text), "%.9gs", every_s);
		add(&argv, "--every", text, &err);
	}
	suite = named ? strdup(named) : suite_of(q, key);
	if (suite)
		add(&argv, "--suite", suite, &err);
	free(suite);
	add_common(q, &argv, &err);
	snprintf(what, sizeof(what), "%s of %.200s", kind, key);
	ask(q, "profile", what, &argv, &err, id, a);
	return a->status == 202;
}

void assay_serve_profile_start(const struct assay_http_query *q, struct assay_http_answer *a)
{
	uint64_t id;

	start_profile(q, q->path, &id, a);
}

#define TOP_FUNCTIONS 10

/* Advice on the case of @p by its newest run, of which there may be none. */
static json_t *bottlenecks(const struct assay_http_query *q, const struct assay_profile *p)
{
	static const char *const severities[] = { "unknown", "high", "medium", "low" };
	json_t *list = json_array();
	struct assay_bottleneck b;
	int64_t run;

	if (assay_bottleneck_of_profile(q->server->q->what->db, p, &run, &b, NULL))
		return list;
	for (size_t i = 0; i < b.n_advice; i++)
		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:s,s:s,s:I}", "severity", severities[b.advice[i].priority],
						"type", b.advice[i].rule, "description", b.advice[i].evidence, "advice",
						b.advice[i].text, "run", (json_int_t)run));
	return list;
}

void assay_serve_profile_report(const struct assay_http_query *q, const struct assay_profile *p,
				struct assay_http_answer *a)
{
	const struct assay_report r = { .kind = ASSAY_REPORT_PROFILE, .profile = { .p = p } };
	struct assay_text shown = { 0 };
	struct assay_err err = { 0 };
	json_t *root, *top = json_array();

	if (assay_emit(&r, "json", NULL, &shown, &err)) {
		assay_http_fail_err(a, &err);
		json_decref(top);
		return;
	}
	root = shown.s ? json_loads(shown.s, 0, NULL) : NULL;
	assay_text_release(&shown);
	for (size_t i = 0; i < TOP_FUNCTIONS; i++)
		json_array_append(top, json_array_get(json_object_get(root, "functions"), i));
	json_object_update_new(root, json_pack("{s:o,s:f,s:o}", "profile_id", json_sprintf("p%" PRId64, p->id),
					       "duration_seconds", p->seconds, "bottlenecks", bottlenecks(q, p)));
	if (!strcmp(p->kind, "cpu"))
		json_object_set_new(root, "cpu", json_pack("{s:O}", "top_functions", top));
	if (p->heap.processes)
		json_object_set_new(root, "memory",
				    json_pack("{s:f,s:f,s:f}", "peak_mb", p->heap.all.most_bytes / 1e6, "allocations",
					      p->heap.all.blocks, "leaked_mb", p->heap.all.live_bytes / 1e6));
	json_decref(top);
	assay_http_json(a, root);
}

/* The answer is the profile: a flame graph, or its report. */
void assay_serve_profile_wait(const struct assay_http_query *q, struct assay_http_answer *a)
{
	const char *path = q->path, *kind = kind_of(q, path);
	const bool graph = strstr(path, "/flamegraph");
	struct assay_profile p = { 0 };
	struct assay_err err = { 0 };
	struct assay_server_job job;
	uint64_t id;

	if (!start_profile(q, path, &id, a))
		return;
	assay_text_release(&a->text);
	a->status = 200;
	if (!assay_jobs_wait(&q->server->jobs, id, &job))
		assay_http_fail(a, 503, "the server ends");
	else if (job.exit)
		assay_http_fail_job(a, &job);
	else if (assay_profile_find(q->server->q->what->db, "last", kind, &p, &err))
		assay_http_fail_err(a, &err);
	else if (!graph)
		assay_serve_profile_report(q, &p, a);
	else {
		a->type = "image/svg+xml";
		assay_http_emit(a, &(struct assay_report){ .kind = ASSAY_REPORT_PROFILE, .profile = { .p = &p } },
				"svg");
	}
	assay_profile_release(&p);
}

void assay_serve_stop(const struct assay_http_query *q, struct assay_http_answer *a)
{
	const struct assay_server_job job = assay_jobs_look(&q->server->jobs);

	if (!assay_jobs_stop(&q->server->jobs))
		assay_http_fail(a, 409, "nothing is under way");
	else
		assay_http_json(a, json_pack("{s:i,s:I}", "schema", 1, "stopped", (json_int_t)job.id));
}
