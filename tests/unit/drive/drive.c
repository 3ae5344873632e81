/* SPDX-License-Identifier: Apache-2.0 */
/* Runs and comparisons through requests: what comes back, what the watch hears, and that nothing is printed. */

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "drive/compare/certify.h"
#include "drive/compare/compare.h"
#include "drive/compare/one_case.h"
#include "drive/installed.h"
#include "drive/run/run.h"
#include "drive/session.h"
#include "drive/show/show.h"
#include "unit.h"

#define CASE "dequantize.q8_0/ref/n=16384/t=1/warm"

static char dir[] = "/tmp/assay-drive-XXXXXX";
static char db[64], policy[64];
static FILE *said; /* takes the place of standard output and standard error */
static int streams[2];

/* The events that the watch heard. */
struct heard {
	unsigned n[ASSAY_EVENT_DONE + 1];
	char warning[512];
	volatile sig_atomic_t stop;
	enum assay_event_kind stop_at; /* set the flag when this comes, but for the first @pass times */
	unsigned pass;
};

static void hear(void *arg, const struct assay_event *e)
{
	struct heard *h = arg;

	assert_true(e->kind <= ASSAY_EVENT_DONE);
	h->n[e->kind]++;
	if (e->kind == ASSAY_EVENT_WARNING)
		snprintf(h->warning, sizeof(h->warning), "%s", e->text);
	if (e->kind == ASSAY_EVENT_RUN)
		assert_true(!e->run->id && e->run->machine.id[0]); /* it is stored with its first result */
	if (e->kind == ASSAY_EVENT_CASES)
		assert_true(e->cases && e->n_cases > 0);
	if (h->stop_at && e->kind == h->stop_at && h->n[e->kind] > h->pass)
		h->stop = 1;
}

static struct assay_watch watch(struct heard *h)
{
	*h = (struct heard){ 0 };
	return (struct assay_watch){ .event = hear, .arg = h, .interrupted = &h->stop };
}

static struct assay_request request(void)
{
	struct assay_request q = assay_request_default();

	q.plan.suite = "smoke";
	q.db = db;
	q.plan.budget_ns = 20000000;
	assert_int_equal(assay_request_set_threads(&q, "1", "threads", NULL), 0);
	assert_int_equal(assay_strings_add(&q.plan.only, CASE, NULL), 0);
	return q;
}

/* Commands print; the driving layer does not. */
static int silence(void **state)
{
	fflush(stdout);
	said = tmpfile();
	for (int i = 0; i < 2; i++) {
		streams[i] = dup(STDOUT_FILENO + i);
		if (!said || streams[i] < 0 || dup2(fileno(said), STDOUT_FILENO + i) < 0)
			return -1;
	}
	return 0;
}

static int nothing_was_said(void **state)
{
	struct stat st;
	int rc;

	fflush(stdout);
	rc = fstat(fileno(said), &st) || st.st_size ? -1 : 0;
	for (int i = 0; i < 2; i++) {
		dup2(streams[i], STDOUT_FILENO + i);
		close(streams[i]);
	}
	fclose(said);
	return rc;
}

TEST_WITH(a_run_is_measured_and_stored, silence, nothing_was_said)
{
	struct assay_request q = request();
	struct assay_err err = { 0 };
	struct assay_run run;
	struct heard h;
	const struct assay_watch w = watch(&h);

	assert_int_equal(assay_run_measure(&q, &w, &run, &err), 0);
	assert_true(run.id > 0 && run.ended_ns >= run.started_ns);
	assert_int_equal(run.n_results, 1);
	assert_string_equal(run.results[0].c.key, CASE);
	assert_int_equal(run.results[0].status, ASSAY_STATUS_OK);
	assert_int_equal(assay_run_exit(&run, &w), ASSAY_EXIT_OK);
	assert_int_equal(h.n[ASSAY_EVENT_RUN], 1);
	assert_int_equal(h.n[ASSAY_EVENT_CASES], h.n[ASSAY_EVENT_DONE]);
	assert_true(h.n[ASSAY_EVENT_CASE] >= 1 && h.n[ASSAY_EVENT_PART] >= 1);
	assert_int_equal(h.n[ASSAY_EVENT_WARNING], 0);
	assay_run_release(&run);
	assay_request_release(&q);
}

TEST_WITH(an_interrupt_before_the_first_case_leaves_no_run, silence, nothing_was_said)
{
	struct assay_request q = request();
	struct assay_err err = { 0 };
	struct assay_run run;
	struct heard h;
	const struct assay_watch w = watch(&h);

	h.stop_at = ASSAY_EVENT_CASES;
	assert_int_equal(assay_run_measure(&q, &w, &run, &err), ASSAY_EINTERRUPTED);
	assert_string_equal(err.text, "interrupted before the first of 1 cases was finished: nothing is kept");
	assert_int_equal(run.n_results, 0);
	assert_int_equal(run.id, 0);
	assert_int_equal(h.n[ASSAY_EVENT_DONE], 1);
	assay_run_release(&run);
	assay_request_release(&q);
}

TEST_WITH(an_interrupt_between_rounds_keeps_the_first, silence, nothing_was_said)
{
	struct assay_request q = request();
	struct assay_err err = { 0 };
	struct assay_run run;
	struct heard h;
	const struct assay_watch w = watch(&h);

	q.plan.rounds = 2;
	h.stop_at = ASSAY_EVENT_ROUND;
	assert_int_equal(assay_run_measure(&q, &w, &run, &err), ASSAY_EINTERRUPTED);
	assert_non_null(strstr(err.text, "interrupted after the first round: 1 of 1 cases kept in run "));
	assert_int_equal(run.ended_ns, 0);
	assay_run_release(&run);
	assay_request_release(&q);
}

/* All times are there by then: the run is whole, but for its counts. */
TEST_WITH(an_interrupt_while_counting_keeps_a_whole_run, silence, nothing_was_said)
{
	struct assay_request q = request();
	struct assay_err err = { 0 };
	struct assay_run run;
	struct heard h;
	const struct assay_watch w = watch(&h);
	int rc;

	q.plan.suite = "quick";
	assay_strings_release(&q.plan.only);
	assert_int_equal(assay_strings_add(&q.plan.only, "dequantize.q8_0/ref/n=1048576/t=1/warm", NULL), 0);
	q.plan.rounds = 1;
	h.stop_at = ASSAY_EVENT_SPAN;
	rc = assay_run_measure(&q, &w, &run, &err);
	if (h.n[ASSAY_EVENT_SPAN]) {
		assert_int_equal(rc, ASSAY_EINTERRUPTED);
		assert_non_null(strstr(err.text, "interrupted while counting: 1 of 1 cases kept in run "));
	} else {
		/* without a simulator nothing is counted */
		assert_int_equal(rc, 0);
		assert_non_null(strstr(h.warning, "no exact counts of 1 cases"));
	}
	assert_int_equal(run.n_results, 1);
	assert_true(run.ended_ns >= run.started_ns);
	assay_run_release(&run);
	assay_request_release(&q);
}

static void put(const char *path, const char *text)
{
	assert_int_equal(assay_file_write(path, text, strlen(text), NULL), 0);
}

/* The same plugins on both sides: nothing can be slower, and the replay says the same. */
TEST_WITH(a_comparison_is_measured_stored_and_judged_again, silence, nothing_was_said)
{
	char plugins[ASSAY_INSTALLED_PATH_MAX];
	struct assay_request q = request();
	struct assay_compare_request c = { .what = &q, .budget_ns = 100000000, .policy = policy };
	struct assay_compare_outcome out, again;
	struct assay_stored_comparison stored;
	struct assay_err err = { 0 };
	struct heard h;
	const struct assay_watch w = watch(&h);

	put(policy, "");
	q.take = ASSAY_TAKE_TIMES;
	assert_int_equal(assay_installed_plugin_dir(plugins, sizeof(plugins), &err), 0);
	c.base = c.head = plugins;
	assert_int_equal(assay_compare_measure(&c, &w, &out, &err), 0);
	assert_true(out.judged && out.id > 0);
	assert_int_equal(out.report.n_cases, 1);
	assert_string_equal(out.report.cases[0].key, CASE);
	assert_int_not_equal(out.report.exit, ASSAY_EXIT_REGRESSED);
	assert_int_equal(h.n[ASSAY_EVENT_SPAN], 1);
	assert_int_equal(h.n[ASSAY_EVENT_DONE], 1);
	assert_true(h.n[ASSAY_EVENT_SHARE] >= 1);

	assert_int_equal(assay_compare_replay(&(struct assay_replay_request){ .db = db }, &w, &again, &err), 0);
	assert_int_equal(again.id, out.id);
	assert_int_equal(again.report.exit, out.report.exit);
	assert_int_equal(again.report.cases[0].verdict, out.report.cases[0].verdict);

	assert_int_equal(assay_stored_comparison(db, 0, "dequantize.*", &stored, &err), 0);
	assert_true(stored.cmp.n_cases >= 1 && stored.cmp.cases[0].n_pairs >= 1);
	assert_non_null(stored.readings);
	assay_stored_comparison_release(&stored);
	assert_int_equal(assay_stored_comparison(db, 0, "dequantise.q8_0/ref", &stored, &err), ASSAY_EUSAGE);
	assert_non_null(strstr(err.text, "no case of comparison"));
	assay_stored_comparison_release(&stored);
	assay_compare_outcome_release(&again);
	assay_compare_outcome_release(&out);
	assay_request_release(&q);
}

TEST_WITH(an_interrupt_before_the_first_pair_leaves_no_comparison, silence, nothing_was_said)
{
	static const enum assay_take kinds[] = { ASSAY_TAKE_TIMES, ASSAY_TAKE_COUNTS };
	char plugins[ASSAY_INSTALLED_PATH_MAX];
	struct assay_request q = request();
	struct assay_compare_request c = { .what = &q, .policy = policy };
	struct assay_compare_outcome out;
	struct assay_err err = { 0 };
	struct heard h;

	put(policy, "");
	assert_int_equal(assay_installed_plugin_dir(plugins, sizeof(plugins), &err), 0);
	c.base = c.head = plugins;
	q.db = "empty.db";
	for (size_t i = 0; i < N_OF(kinds); i++) {
		const struct assay_watch w = watch(&h);

		h.stop_at = ASSAY_EVENT_SPAN;
		q.take = kinds[i];
		assert_int_equal(assay_compare_measure(&c, &w, &out, &err), ASSAY_EINTERRUPTED);
		assert_false(out.judged);
		assert_string_equal(err.text, "interrupted before anything was measured: nothing is kept");
		assay_compare_outcome_release(&out);
		assert_int_equal(assay_compare_replay(&(struct assay_replay_request){ .db = q.db }, &w, &out, &err),
				 ASSAY_ENOTFOUND);
	}
	unlink(q.db);
	assay_request_release(&q);
}

/* Nothing was seen, so there is no rate to tell. */
TEST_WITH(a_certification_without_a_gate_says_nothing, silence, nothing_was_said)
{
	struct assay_request q = request();
	const struct assay_certify_request c = { .compare = { .what = &q, .policy = policy }, .gates = 1 };
	struct assay_certify_report out;
	struct assay_err err = { 0 };
	struct heard h;
	const struct assay_watch w = watch(&h);

	put(policy, "");
	h.stop_at = ASSAY_EVENT_SPAN;
	assert_int_equal(assay_certify(&c, &w, &out, &err), ASSAY_EINTERRUPTED);
	assert_string_equal(err.text, "interrupted");
	assert_int_equal(out.gates, 0);
	assert_true(out.n_judged == 0);
	assay_certify_report_release(&out);
	assay_request_release(&q);
}

static int set_up(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(db, sizeof(db), "%s/assay.db", dir);
	snprintf(policy, sizeof(policy), "%s/policy.conf", dir);
	return 0;
}

static int tear_down(void **state)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -r '%s'", dir);
	return system(cmd);
}

/* One pair of a side that was disturbed says nothing of how far its ratio may be off. */
TEST(a_ratio_without_an_interval_is_not_told)
{
	struct assay_case_answer a = { .verdict = ASSAY_PASS, .ratio = 0.99999, .ci_lo = NAN, .ci_hi = NAN };
	char text[128];

	snprintf(a.reason, sizeof(a.reason), "same machine code, so it was not timed");
	assay_case_answer_text(&a, text, sizeof(text));
	assert_string_equal(text, a.reason);
	a.ratio = 1.049;
	a.ci_lo = 1.046;
	a.ci_hi = 1.052;
	assay_case_answer_text(&a, text, sizeof(text));
	assert_string_equal(text, "+4.90 % (+4.60 to +5.20 %)");
}

UNIT_GROUP_WITH(set_up, tear_down, NULL, assay_drive_entry)
