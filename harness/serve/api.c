/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of the database, as the JSON that the commands print. Lists are paged: limit=N (100) and offset=N. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drive/history/history.h"
#include "drive/profile/kinds.h"
#include "drive/profile/profile.h"
#include "drive/session.h"
#include "drive/show/name.h"
#include "drive/show/show.h"
#include "serve/http.h"

#define PAGE_MOST 1000

/* Scripts of a page that was made from what programs are called may not reach this server. */
#define SANDBOX                                                                                                        \
	"sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src "   \
	"data:"

static const char *db_of(const struct assay_http_query *q)
{
	return q->server->q->what->db;
}

/* A database that no command has made yet is empty. */
static bool is_empty(const struct assay_http_query *q)
{
	return access(db_of(q), F_OK) != 0;
}

struct page {
	size_t offset, limit;
};

static bool page_of(const struct assay_http_query *q, struct page *p, struct assay_http_answer *a)
{
	double limit, offset;

	if (!assay_http_number(q, "limit", 1, PAGE_MOST, 100, &limit, a) ||
	    !assay_http_number(q, "offset", 0, 1e9, 0, &offset, a))
		return false;
	*p = (struct page){ .offset = (size_t)offset, .limit = (size_t)limit };
	return true;
}

static size_t left(const struct page *p, size_t n)
{
	const size_t after = n > p->offset ? n - p->offset : 0;

	return after < p->limit ? after : p->limit;
}

/* The object of kind @kind that @name names. False, with the answer. */
static bool find(const struct assay_http_query *q, const char *name, unsigned kind, struct assay_stored_name *n,
		 struct assay_http_answer *a)
{
	const struct assay_name_wanted wanted = { .db = db_of(q), .kinds = kind, .what = "name" };
	struct assay_err err = { 0 };

	if (!assay_stored_name_read(name, &wanted, n, &err))
		return true;
	if (err.code == ASSAY_EUSAGE)
		err.code = ASSAY_ENOTFOUND;
	assay_http_fail_err(a, &err);
	return false;
}

void assay_serve_status(const struct assay_http_query *q, struct assay_http_answer *a)
{
	assay_http_json(a, assay_serve_state(q->server));
}

void assay_serve_suites(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_strings names = { 0 };
	struct assay_err err = { 0 };
	json_t *list = json_array();

	if (assay_session_suites(q->server->q->what, &names, &err)) {
		assay_http_fail_err(a, &err);
		json_decref(list);
	} else {
		for (size_t i = 0; i < names.n; i++)
			json_array_append_new(list, json_string(names.v[i]));
		assay_http_json(a, json_pack("{s:i,s:o}", "schema", 1, "suites", list));
	}
	assay_strings_release(&names);
}

/* ---- runs ---- */

static void list_runs(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_run_info *v = NULL;
	struct assay_err err = { 0 };
	struct page p;
	size_t n = 0;

	if (!page_of(q, &p, a))
		return;
	if (!is_empty(q) && assay_stored_runs(db_of(q), p.offset + p.limit, &v, &n, &err))
		assay_http_fail_err(a, &err);
	else
		assay_http_emit(
			a,
			&(struct assay_report){ .kind = ASSAY_REPORT_RUNS,
						.runs = { n ? v + (n > p.offset ? p.offset : n) : v, left(&p, n) } },
			"json");
	free(v);
}

void assay_serve_runs(const struct assay_http_query *q, struct assay_http_answer *a)
{
	const char *dot = strrchr(q->rest, '.');
	const bool csv = dot && !strcmp(dot, ".csv");
	struct assay_stored_name n;
	struct assay_run run;
	struct assay_err err = { 0 };
	char name[128];

	if (!q->rest[0]) {
		list_runs(q, a);
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(csv ? dot - q->rest - 1 : (ptrdiff_t)sizeof(name)), q->rest + 1);
	if (!find(q, name, ASSAY_STORED_RUN, &n, a))
		return;
	a->type = csv ? "text/csv; charset=utf-8" : NULL;
	if (assay_stored_run(db_of(q), n.id, assay_http_text(q, "case"), &run, &err))
		assay_http_fail_err(a, &err);
	else
		assay_http_emit(a, &(struct assay_report){ .kind = ASSAY_REPORT_RUN, .run = { .run = &run } },
				csv ? "csv" : "json");
	assay_run_release(&run);
}

/* ---- cases ---- */

static json_t *case_names(const struct assay_history *h, const struct page *p)
{
	json_t *list = json_array();

	for (size_t i = 0, n = left(p, h->n); i < n; i++)
		json_array_append_new(list, json_string(h->cases[p->offset + i].key));
	return json_pack("{s:i,s:s,s:I,s:o}", "schema", 1, "machine", h->newest.machine_label, "total",
			 (json_int_t)h->n, "cases", list);
}

void assay_serve_cases(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_history h = { 0 };
	struct assay_err err = { 0 };
	struct page p;

	if (!page_of(q, &p, a))
		return;
	if (!is_empty(q) && assay_history_open(&h, db_of(q), assay_http_text(q, "machine"), &err) &&
	    (err.code != ASSAY_EUSAGE || assay_http_text(q, "machine")))
		assay_http_fail_err(a, &err);
	else
		assay_http_json(a, case_names(&h, &p));
	assay_history_close(&h);
}

void assay_serve_history(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_history_request r = { .db = db_of(q),
					   .key = assay_http_text(q, "case"),
					   .machine = assay_http_text(q, "machine") };
	struct assay_case_history h = { 0 };
	struct assay_err err = { 0 };

	if (!r.key || !r.key[0]) {
		assay_http_fail(a, 400, "no case given: /api/history?case=KEY");
	} else if (assay_case_history(&r, &h, &err)) {
		err.code = err.code == ASSAY_EUSAGE ? ASSAY_ENOTFOUND : err.code;
		assay_http_fail_err(a, &err);
	} else {
		assay_http_emit(a, &(struct assay_report){ .kind = ASSAY_REPORT_CHANGES, .history = &h }, "json");
	}
	assay_case_history_release(&h);
}

/* ---- comparisons ---- */

static void list_comparisons(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_comparison_info *v = NULL;
	struct assay_err err = { 0 };
	struct page p;
	size_t n = 0;

	if (!page_of(q, &p, a))
		return;
	if (!is_empty(q) && assay_stored_comparisons(db_of(q), &v, &n, &err))
		assay_http_fail_err(a, &err);
	else
		assay_http_emit(a,
				&(struct assay_report){
					.kind = ASSAY_REPORT_COMPARISONS,
					.comparisons = { n ? v + (n > p.offset ? p.offset : n) : v, left(&p, n) } },
				"json");
	free(v);
}

/* The verdicts of a stored comparison, as `assay compare --replay` prints them. */
void assay_serve_comparisons(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_compare_outcome o = { 0 };
	struct assay_stored_name n;
	struct assay_err err = { 0 };

	if (!q->rest[0]) {
		list_comparisons(q, a);
		return;
	}
	if (!find(q, q->rest + 1, ASSAY_STORED_COMPARISON, &n, a))
		return;
	if (assay_stored_verdicts(db_of(q), n.id, assay_http_text(q, "case"), &(struct assay_watch){ 0 }, &o, &err)) {
		err.code = err.code == ASSAY_EUSAGE ? ASSAY_ENOTFOUND : err.code;
		assay_http_fail_err(a, &err);
	} else {
		assay_http_emit(a, &(struct assay_report){ .kind = ASSAY_REPORT_GATE, .gate = { .gate = &o.report } },
				"json");
	}
	assay_compare_outcome_release(&o);
}

void assay_serve_alerts(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_alert_report r;
	struct assay_err err = { 0 };

	if (assay_alerts(q->server->q->policy, db_of(q), &r, &err))
		assay_http_fail_err(a, &err);
	else
		assay_http_emit(a, &(struct assay_report){ .kind = ASSAY_REPORT_ALERTS, .alerts = &r }, "json");
	assay_alerts_release(&r);
}

void assay_serve_diff(const struct assay_http_query *q, struct assay_http_answer *a)
{
	const struct assay_diff_request r = { .db = db_of(q),
					      .base = assay_http_text(q, "base"),
					      .head = assay_http_text(q, "head"),
					      .only = assay_http_text(q, "case") };
	struct assay_diff d = { 0 };
	struct assay_err err = { 0 };

	if (!r.base || !r.head)
		assay_http_fail(a, 400, "two runs are compared: /api/diff?base=r1&head=r2");
	else if (assay_diff_make(&r, &d, &err))
		assay_http_fail_err(a, &err);
	else
		assay_http_emit(a, &(struct assay_report){ .kind = ASSAY_REPORT_DIFF, .diff = { .diff = &d } }, "json");
	assay_diff_release(&d);
}

/* ---- profiles ---- */

static void list_profiles(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_profile_info *v = NULL;
	struct assay_err err = { 0 };
	json_t *list = json_array();
	struct page p;
	size_t n = 0;

	if (!page_of(q, &p, a)) {
		json_decref(list);
		return;
	}
	if (!is_empty(q) && assay_profiles_stored(db_of(q), &v, &n, &err)) {
		assay_http_fail_err(a, &err);
		json_decref(list);
		free(v);
		return;
	}
	for (size_t i = 0, m = left(&p, n); i < m; i++) {
		const struct assay_profile_info *f = &v[p.offset + i];

		json_array_append_new(list, json_pack("{s:I,s:s,s:s,s:s,s:I}", "id", (json_int_t)f->id, "kind", f->kind,
						      "name", f->name, "what", f->what, "started_s",
						      (json_int_t)(f->started_ns / 1000000000u)));
	}
	free(v);
	assay_http_json(a, json_pack("{s:i,s:I,s:o}", "schema", 1, "total", (json_int_t)n, "profiles", list));
}

/* The profile @name as JSON, or as what its ending says: .svg, .html, .folded. */
static void show_profile(const struct assay_http_query *q, const char *name, struct assay_http_answer *a)
{
	static const struct {
		const char *ending, *format, *type, *policy;
	} as[] = {
		{ ".svg", "svg", "image/svg+xml", SANDBOX },
		{ ".html", "html", "text/html; charset=utf-8", SANDBOX },
		{ ".folded", "folded", "text/plain; charset=utf-8", NULL },
		{ "", "json", NULL, NULL },
	};
	const char *dot = strrchr(name, '.'), *kind = assay_http_text(q, "kind"),
		   *sanitize = assay_http_text(q, "sanitize");
	struct assay_profile p = { 0 };
	struct assay_err err = { 0 };
	char called[128];
	size_t i = 0;

	while (as[i].ending[0] && (!dot || strcmp(dot, as[i].ending)))
		i++;
	snprintf(called, sizeof(called), "%.*s", (int)(as[i].ending[0] ? (size_t)(dot - name) : strlen(name)), name);
	if (is_empty(q)) {
		assay_http_fail(a, 404, "nothing is profiled yet");
		return;
	}
	if (assay_profile_find(db_of(q), called, kind, &p, &err)) {
		err.code = err.code == ASSAY_EUSAGE ? ASSAY_ENOTFOUND : err.code;
		assay_http_fail_err(a, &err);
	} else if (sanitize && strcmp(sanitize, "0") && assay_profile_sanitize(&p, &err)) {
		assay_http_fail_err(a, &err);
	} else if (!strncmp(q->path, "/admin/", strlen("/admin/"))) {
		assay_serve_profile_report(q, &p, a);
	} else {
		a->type = as[i].type;
		a->policy = as[i].policy;
		assay_http_emit(a, &(struct assay_report){ .kind = ASSAY_REPORT_PROFILE, .profile = { .p = &p } },
				as[i].format);
	}
	assay_profile_release(&p);
}

void assay_serve_profiles(const struct assay_http_query *q, struct assay_http_answer *a)
{
	if (q->rest[0])
		show_profile(q, q->rest + 1, a);
	else
		list_profiles(q, a);
}

void assay_serve_profile_last(const struct assay_http_query *q, struct assay_http_answer *a)
{
	show_profile(q, "last", a);
}

void assay_serve_profile_compare(const struct assay_http_query *q, struct assay_http_answer *a)
{
	const char *const names[2] = { assay_http_text(q, "base"), assay_http_text(q, "head") };
	struct assay_profile side[2] = { { 0 }, { 0 } };
	struct assay_profile_diff d = { 0 };
	struct assay_err err = { 0 };

	if (!names[0] || !names[1])
		assay_http_fail(a, 400, "two profiles are compared: ?base=baseline&head=optimized");
	else if (assay_profile_diff_find(db_of(q), names, assay_http_text(q, "kind"), false, side, &d, &err))
		assay_http_fail_err(a, &err);
	else
		assay_http_emit(a, &(struct assay_report){ .kind = ASSAY_REPORT_PROFILE_DIFF, .profile_diff = &d },
				"json");
	assay_profile_diff_release(&d);
	assay_profile_release(&side[0]);
	assay_profile_release(&side[1]);
}

void assay_serve_bottlenecks(const struct assay_http_query *q, struct assay_http_answer *a)
{
	struct assay_bottleneck *v = NULL;
	struct assay_stored_name n = { 0 };
	struct assay_err err = { 0 };
	const char *run = assay_http_text(q, "run");
	size_t n_cases = 0;

	if (!find(q, run ? run : "last", ASSAY_STORED_RUN, &n, a))
		return;
	if (assay_bottlenecks_find(db_of(q), &n.id, assay_http_text(q, "case"), &v, &n_cases, &err))
		assay_http_fail_err(a, &err);
	else
		assay_http_emit(
			a,
			&(struct assay_report){ .kind = ASSAY_REPORT_BOTTLENECKS, .bottlenecks = { n.id, v, n_cases } },
			"json");
	free(v);
}
