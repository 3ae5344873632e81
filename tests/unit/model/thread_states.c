/* SPDX-License-Identifier: Apache-2.0 */
/* How the time of a thread is divided, what is summed over threads, and how it is shown. */
#include "emit_fixture.h"

#include <jansson.h>
#include <math.h>

#include "counters/threads/log.h"
#include "model/profile.h"

#define MS 1000000u

static const struct {
	const char *name;
	uint64_t wall_ms, cpu_ms, ready_ms;
	struct assay_thread_waits meets, others; /* in ms here */
	struct assay_thread_split want;          /* likewise */
} divisions[] = {
	{ "it only runs", 10, 10, 0, { 0, 0, 0 }, { 0, 0, 0 }, { 10, 10, 0, 0, 0, 0 } },
	{ "spinning is waiting", 10, 10, 0, { 4, 0, 0 }, { 0, 0, 0 }, { 10, 6, 4, 0, 0, 0 } },
	{ "asleep at a barrier and in a lock", 10, 4, 0, { 0, 2, 0 }, { 0, 4, 0 }, { 10, 4, 2, 4, 0, 0 } },
	{ "what no call explains", 10, 4, 1, { 0, 1, 0 }, { 0, 2, 0 }, { 10, 4, 1, 2, 2, 1 } },
	{ "ready within waits is not waiting", 10, 4, 3, { 0, 2, 0 }, { 0, 4, 0 }, { 10, 4, 1, 2, 0, 3 } },
	{ "what a sleep takes of a processor", 10, 4, 0, { 0, 4, 1 }, { 0, 4, 2 }, { 10, 1, 4, 5, 0, 0 } },
	{ "clocks that disagree", 10, 12, 3, { 9, 0, 0 }, { 0, 0, 0 }, { 10, 0, 7, 0, 0, 3 } },
	{ "more ready than there was time", 10, 2, 14, { 0, 0, 0 }, { 0, 0, 0 }, { 10, 0, 0, 0, 0, 10 } },
};

static struct assay_thread_waits ms(struct assay_thread_waits w)
{
	return (struct assay_thread_waits){ w.spun_ns * MS, w.slept_ns * MS, w.cpu_ns * MS };
}

static uint64_t sum(const struct assay_thread_split *t)
{
	return t->running_ns + t->waiting_ns + t->blocked_ns + t->other_ns + t->ready_ns;
}

TEST(time_is_divided_without_a_rest)
{
	for (size_t i = 0; i < N_OF(divisions); i++) {
		const struct assay_thread_waits meets = ms(divisions[i].meets), others = ms(divisions[i].others);
		const struct assay_thread_split t =
			assay_thread_split_make(divisions[i].wall_ms * MS, divisions[i].cpu_ms * MS,
						divisions[i].ready_ms * MS, &meets, &others);
		const struct assay_thread_split *w = &divisions[i].want;

		if (t.wall_ns != w->wall_ns * MS || t.running_ns != w->running_ns * MS ||
		    t.waiting_ns != w->waiting_ns * MS || t.blocked_ns != w->blocked_ns * MS ||
		    t.other_ns != w->other_ns * MS || t.ready_ns != w->ready_ns * MS || sum(&t) != t.wall_ns)
			fail_msg("%s: running %llu, waiting %llu, blocked %llu, other %llu, ready %llu",
				 divisions[i].name, (unsigned long long)t.running_ns, (unsigned long long)t.waiting_ns,
				 (unsigned long long)t.blocked_ns, (unsigned long long)t.other_ns,
				 (unsigned long long)t.ready_ns);
	}
}

TEST(a_mark_within_a_wait_divides_it)
{
	static struct assay_thread_record r;
	struct assay_thread_split bins = { 0 };
	const uint64_t base = 5 * MS;

	r = (struct assay_thread_record){ .watched = 1, .bin_ns = MS, .mark_ns = 10 * MS };
	/* it ran for 10 ms, then slept in a barrier */
	r.call = ASSAY_WAIT_BARRIER;
	r.since_ns = r.asleep_ns = 20 * MS;
	assay_thread_mark(&r, base, 50 * MS, 10 * MS, 0, true);
	assert_int_equal(r.total.running_ns, 10 * MS);
	assert_int_equal(r.total.waiting_ns, 30 * MS);
	assert_int_equal(r.mark_ns, 50 * MS);
	/* the rest of that wait; and what is not watched does not count */
	assay_thread_mark(&r, base, 1050 * MS, 10 * MS, 100 * MS, true);
	assert_int_equal(r.total.waiting_ns, 930 * MS);
	assert_int_equal(r.total.ready_ns, 100 * MS);
	r.watched = 0;
	assay_thread_mark(&r, base, 2000 * MS, 10 * MS, 100 * MS, true);
	assert_int_equal(r.total.wall_ns, 1040 * MS);
	assert_int_equal(sum(&r.total), r.total.wall_ns);
	/* the bins reach that far, and nothing is lost on the way */
	assert_true(r.bin_ns * ASSAY_THREAD_BINS > 1045 * MS);
	for (unsigned i = 0; i < ASSAY_THREAD_BINS; i++)
		assay_thread_split_add(&bins, &r.bins[i]);
	assert_int_equal(bins.wall_ns, r.total.wall_ns);
	assert_int_equal(sum(&bins), r.total.wall_ns);
	assert_int_equal(r.bins[0].wall_ns, 0);
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

static const char *const thread_names[] = { "thread 1", "thread 2: <script>", "thread 3", "thread 4" };

static void add(struct assay_profile *p, unsigned thread, const char *state, const char *function, uint64_t ns)
{
	const struct assay_frame frames[] = {
		{ .kind = ASSAY_FRAME_LABEL, .name = thread_names[thread] },
		{ .kind = ASSAY_FRAME_LABEL, .name = state },
		{ .name = "outer", .object = "a.so", .file = "a.c", .line = 10 },
		{ .name = function ? function : "", .object = "a.so", .file = "a.c", .line = 20 },
	};
	uint32_t v[4];

	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(assay_stack_table_frame(&p->stacks, &frames[i], &v[i], NULL), 0);
	assert_int_equal(assay_stack_table_add(&p->stacks, v, function ? 4 : 2, ns, NULL), 0);
	p->threads[thread].weight += ns;
}

/* Two threads for 100 ms each: 80 and 40 ms of work. */
static struct assay_profile make(void)
{
	struct assay_profile p = { .kind = "threads",
				   .what = "./a <b>",
				   .unit = "ns",
				   .source = "test",
				   .seconds = 0.1,
				   .overhead_frac = NAN,
				   .iteration_ns = NAN,
				   .n_threads = 2 };

	p.threads = calloc(2, sizeof(*p.threads));
	for (unsigned i = 0; i < 2; i++)
		snprintf(p.threads[i].name, sizeof(p.threads[i].name), "%s", thread_names[i]);
	add(&p, 0, "running", NULL, 80 * MS);
	add(&p, 0, "ready, without a processor", NULL, 4 * MS);
	add(&p, 0, "blocked: pthread_mutex_lock", "take", 16 * MS);
	add(&p, 1, "running", NULL, 40 * MS);
	add(&p, 1, "waiting: host->barrier", "meet", 50 * MS);
	add(&p, 1, "blocked: pthread_mutex_lock", "take", 10 * MS);
	return p;
}

TEST(states_efficiency_and_waits_of_threads)
{
	struct assay_profile p = make();
	struct assay_thread_account *v = NULL;
	struct assay_thread_wait *w = NULL;
	struct assay_thread_efficiency e;
	size_t n = 0;

	assert_int_equal(assay_thread_accounts(&p, &v, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_int_equal(v[0].wall_ns, 100 * MS);
	assert_int_equal(v[0].ns[ASSAY_STATE_RUNNING], 80 * MS);
	assert_int_equal(v[0].ns[ASSAY_STATE_READY], 4 * MS);
	assert_int_equal(v[1].ns[ASSAY_STATE_WAITING], 50 * MS);
	assert_int_equal(v[1].ns[ASSAY_STATE_BLOCKED], 10 * MS);
	e = assay_thread_efficiency(v, n);
	assert_float_equal(e.load_balance, 60.0 / 80, 1e-12);
	assert_float_equal(e.serialisation, 80.0 / 96, 1e-12);
	assert_float_equal(e.scheduling, 0.96, 1e-12);
	assert_float_equal(e.parallel, 0.6, 1e-12); /* 120 of 200 ms */
	assert_true(isnan(assay_thread_efficiency(v, 0).parallel));
	assert_int_equal(assay_thread_waits(&p, &w, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(assay_thread_wait_call(&p, &w[0]), "host->barrier");
	assert_true(w[0].meets && w[0].threads == 1 && w[0].ns == 50 * MS);
	assert_string_equal(assay_thread_wait_call(&p, &w[1]), "pthread_mutex_lock");
	assert_true(!w[1].meets && w[1].threads == 2 && w[1].ns == 26 * MS && !w[1].waits);
	free(v);
	free(w);
	assay_profile_release(&p);
}

static char *emit_profile(const struct assay_profile *p, const char *format)
{
	const struct assay_report r = { .kind = ASSAY_REPORT_PROFILE, .profile = { .p = p } };

	return emit(&r, format, NULL);
}

TEST(a_thread_that_slept_all_the_time)
{
	static const struct {
		uint64_t running_us, waiting_us, blocked_us, ready_us;
		bool slept;
	} rows[] = {
		{ 0, 0, 100000, 0, true },         { 199, 0, 99801, 0, true },    { 201, 0, 99799, 0, false },
		{ 0, 99000, 1000, 0, false },      { 0, 10001, 89999, 0, false }, { 100, 100, 59800, 40000, true },
		{ 100, 100, 39800, 60000, false },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_thread_account a = { .wall_ns = 100 * MS,
							.ns = { [ASSAY_STATE_RUNNING] = rows[i].running_us * 1000,
								[ASSAY_STATE_WAITING] = rows[i].waiting_us * 1000,
								[ASSAY_STATE_BLOCKED] = rows[i].blocked_us * 1000,
								[ASSAY_STATE_READY] = rows[i].ready_us * 1000 } };

		if (assay_thread_slept(&a) != rows[i].slept)
			fail_msg("row %zu", i);
	}
}

/* Threads that slept are folded into one line, unless all of them did. */
TEST(threads_that_slept_are_folded)
{
	struct assay_profile p = { .kind = "threads", .what = "./a", .unit = "ns", .source = "test", .n_threads = 4 };
	const struct assay_report r = { .kind = ASSAY_REPORT_PROFILE, .profile = { .p = &p } };
	const struct assay_emit_style verbose = { .verbose = true };
	char *text;

	p.threads = calloc(p.n_threads, sizeof(*p.threads));
	for (unsigned i = 0; i < p.n_threads; i++)
		snprintf(p.threads[i].name, sizeof(p.threads[i].name), "%s", thread_names[i]);
	for (unsigned i = 0; i < p.n_threads; i++)
		add(&p, i, "blocked: pthread_cond_wait", "idle", 100 * MS);
	assert_int_equal(times(emit_profile(&p, "svg"), "% running"), 4);
	add(&p, 0, "running", NULL, 100 * MS);
	text = emit_profile(&p, "text");
	has(text, "\n  3 threads slept all the time: --verbose shows them\n");
	assert_int_equal(times(text, "\n  thread "), 2); /* a head, and the one that worked */
	text = emit(&r, "text", &verbose);
	assert_int_equal(times(text, "\n  thread "), 6);
	has(emit_profile(&p, "html"), "<details><summary>3 threads slept all the time</summary>");
	text = emit_profile(&p, "svg");
	has(text, ">3 threads slept all the time<");
	assert_int_equal(times(text, "% running"), 1);
	assay_profile_release(&p);
}

UNIT_GROUP(NULL, NULL)
