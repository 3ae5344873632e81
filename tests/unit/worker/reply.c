/* SPDX-License-Identifier: Apache-2.0 */
/* How the controller reads a page in which a plugin wrote. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "worker/case/state.h"
#include "worker/reply.h"

#define THREADS 2
#define SAMPLES 3
#define AGE_NS  4000000000u

static const struct assay_order order = { .command = ASSAY_CMD_SAMPLE,
					  .token = 77,
					  .args = { .iterations = 5, .count = SAMPLES } };
static const struct assay_reply_expected expected = { .order = &order, .n_threads = THREADS, .age_ns = AGE_NS };

struct world {
	struct assay_worker_reply *page, *own, *got;
};

static int set_up(void **state)
{
	static struct world w;

	w.page = calloc(1, sizeof(*w.page));
	w.own = calloc(1, sizeof(*w.own));
	w.got = calloc(1, sizeof(*w.got));
	assert_true(w.page && w.own && w.got);
	*state = &w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	free(w->page);
	free(w->own);
	free(w->got);
	return 0;
}

/* An answer with something in each member. */
static void fill(struct assay_worker_reply *r)
{
	*r = (struct assay_worker_reply){
		.token = 77,
		.reason = "why",
		.n_threads = THREADS,
		.numa_node = -1,
		.prepare_ns = 1000,
		.op_bytes = 64,
		.code_hash = "0123456789abcdef0123456789abcdef",
		.digest = "ffffffffffffffffffffffffffffffff",
		.accepted = { .digest = { "00000000000000000000000000000000" }, .max_rel_err = { 0.5 } },
		.max_rel_err = -1,
		.n_samples = SAMPLES,
		.output_bytes = 64,
		.window_bytes = 8,
		.output_name = "y",
		.element_bytes = 4,
		.n_metrics = 2,
		.n_counts = 2,
		.n_missing = 2,
		.n_histograms = 2,
		.cpus = { 0, 1 },
		.core_least = { 10, 11 },
		.window = "1234567",
		.metrics = { { "a", 1 }, { "b", NAN } },
		.counts = { { .name = "x", .source = "os", .running_frac = 1 },
			    { .name = "z", .source = "pmu", .how = "papi", .per_iteration = true } },
		.missing = { { "m", "pmu", "no PMU" }, { "n", "heap", "none" } },
		.histograms = { { "h", { [3] = 5 } }, { "i", { [ASSAY_HISTOGRAM_BUCKETS - 1] = 1 } } },
	};
	for (int i = 0; i < SAMPLES; i++)
		r->samples[i] = (struct assay_sample){ .iterations = 5, .ns = 100, .flags = ASSAY_SAMPLE_WAIT_TOLD };
}

TEST(an_answer_arrives_and_leaves_nothing)
{
	static const struct assay_worker_reply zeros;
	struct world *w = *state;
	struct assay_err err = { 0 };

	fill(w->own);
	assay_reply_publish(w->page, w->own);
	assert_int_equal(assay_reply_take(w->got, w->page, &expected, &err), 0);
	assert_memory_equal(w->got, w->own, sizeof(*w->own));
	assay_reply_withdraw(w->page, w->own);
	assert_memory_equal(w->page, &zeros, sizeof(zeros));
}

/* A member with a value of its type, and what is said of it. */
#define ROW(member, type, value, text)                                                                                 \
	{                                                                                                              \
		offsetof(struct assay_worker_reply, member), sizeof(type), &(const type){ value }, text                \
	}

TEST(nonsense_is_named)
{
	const struct {
		size_t at, bytes;
		const void *value;
		const char *want;
	} rows[] = {
		ROW(token, uint64_t, 78, "it does not answer the command"),
		ROW(status, int32_t, 77, "status 77"),
		ROW(status, int32_t, -1, "status -1"),
		ROW(status, int32_t, ASSAY_STATUS_CRASHED, "status 3"),
		ROW(status, int32_t, ASSAY_STATUS_TIMEOUT, "status 4"),
		ROW(n_threads, uint32_t, 3, "n_threads 3, 2 were asked for"),
		ROW(n_threads, uint32_t, 0, "n_threads 0, 2 were asked for"),
		ROW(n_threads, uint32_t, UINT32_MAX, "n_threads 4294967295 of at most 1024"),
		ROW(n_samples, uint32_t, UINT32_MAX, "n_samples 4294967295 of at most 4096"),
		ROW(n_samples, uint32_t, 4, "n_samples 4, 3 were asked for"),
		ROW(n_samples, uint32_t, 2, "n_samples 2, 3 were asked for"),
		ROW(n_metrics, uint32_t, UINT32_MAX, "n_metrics 4294967295 of at most 96"),
		ROW(n_counts, uint32_t, UINT32_MAX, "n_counts 4294967295 of at most 192"),
		ROW(n_counts, uint32_t, 193, "n_counts 193 of at most 192"),
		ROW(n_missing, uint32_t, UINT32_MAX, "n_missing 4294967295 of at most 192"),
		ROW(n_histograms, uint32_t, UINT32_MAX, "n_histograms 4294967295 of at most 8"),
		ROW(histograms[1].n[7], uint64_t, UINT64_MAX, "histograms[1] has more than 9007199254740992 values"),
		ROW(histograms[0].n[7], uint64_t, (UINT64_C(1) << 53) - 4, "histograms[0] has more than"),
		ROW(histograms[1].tag, char, 'h', "histograms[0] and histograms[1] have the same tag"),
		ROW(window_bytes, uint32_t, UINT32_MAX, "window_bytes 4294967295 of at most 65536"),
		ROW(prepare_ns, uint64_t, 9000000001, "prepare_ns 9000000001 of at most 9000000000"),
		ROW(prepare_bytes, uint64_t, UINT64_MAX, "prepare_bytes 18446744073709551615 of at most"),
		ROW(op_bytes, uint64_t, UINT64_MAX, "op_bytes 18446744073709551615 of at most"),
		ROW(input_bytes, uint64_t, 65, "input_bytes 65 of at most 64"),
		ROW(own_bytes, uint64_t, UINT64_MAX, "own_bytes 18446744073709551615 of at most"),
		ROW(rss_peak_bytes, uint64_t, UINT64_MAX, "rss_peak_bytes 18446744073709551615 of at most"),
		ROW(output_bytes, uint64_t, UINT64_MAX, "output_bytes 18446744073709551615 of at most"),
		ROW(call_parts, uint64_t, UINT64_MAX, "call_parts 18446744073709551615 of at most 4294967295"),
		ROW(element, uint64_t, 65, "element 65 of at most 64"),
		ROW(element_at, uint64_t, 65, "element_at 65 of at most 64"),
		ROW(element_bytes, uint32_t, 9, "element_bytes 9 of at most 8"),
		ROW(numa_node, int32_t, -2, "numa_node -2"),
		ROW(numa_node, int32_t, INT32_MAX, "numa_node 2147483647"),
		ROW(max_rel_err, double, NAN, "max_rel_err nan"),
		ROW(accepted.max_rel_err[1], double, INFINITY, "accepted.max_rel_err[1] inf"),
		ROW(deviation.edges, unsigned, 0x10, "deviation.edges 0x10"),
		ROW(accepted.deviation[1].edges, unsigned, 0x80000000, "accepted.deviation[1].edges 0x80000000"),
		ROW(code_hash, char, 'g', "code_hash is not a digest"),
		ROW(code_hash[9], char, '\0', "code_hash is not a digest"),
		ROW(code_hash[ASSAY_DIGEST_LEN], char, '0', "code_hash is not a digest"),
		ROW(digest, char, 'A', "digest is not a digest"),
		ROW(accepted.digest[1], char, ' ', "accepted.digest[1] is not a digest"),
		ROW(cpus[1], int32_t, -2, "cpus[1] -2"),
		ROW(cpus[1], int32_t, 65536, "cpus[1] 65536"),
		ROW(samples[2].iterations, uint64_t, 6, "samples[2].iterations 6, 5 were asked for"),
		ROW(samples[1].ns, uint64_t, 9000000001, "samples[1].ns 9000000001 is longer than the worker ran"),
		ROW(samples[1].waited_ns, uint64_t, UINT64_MAX, "samples[1] lost 18446744073709551615 ns"),
		ROW(samples[1].stolen_ns, uint64_t, UINT64_MAX, "samples[1] lost 18446744073709551615 ns"),
		ROW(samples[0].flags, uint32_t, ASSAY_SAMPLE_NEW_ROUND, "samples[0].flags 0x10000"),
		ROW(samples[0].flags, uint32_t, ASSAY_SAMPLE_CONTINUES, "samples[0].flags 0x40000"),
		ROW(samples[0].flags, uint32_t, 0x200, "samples[0].flags 0x200"),
		ROW(metrics[1].tag, char, 'a', "metrics[0] and metrics[1] have the same tag"),
		ROW(counts[1].name, char, 'x', "counts[0] and counts[1] have the same name"),
		ROW(counts[1].name, char, '\0', "counts[1].name is empty or has no end"),
		ROW(counts[0].source, char, 'q', "counts[0].source is none"),
		ROW(counts[0].value, double, NAN, "counts[0].value nan"),
		ROW(counts[1].per_iteration, unsigned char, 2, "counts[1].per_iteration is neither true nor false"),
		ROW(counts[1].more_rounds, unsigned, 1, "counts[1].more_rounds 1"),
		ROW(counts[1].running_frac, double, 1.5, "counts[1].running_frac 1.5"),
		ROW(counts[1].running_frac, double, NAN, "counts[1].running_frac nan"),
		ROW(missing[1].name, char, 'm', "missing[0] and missing[1] have the same name"),
		ROW(missing[0].source, char, '\0', "missing[0].source is none"),
	};
	static const struct assay_worker_reply zeros;
	struct world *w = *state;

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_err err = { 0 };
		char want[200];

		fill(w->page);
		memcpy((char *)w->page + rows[i].at, rows[i].value, rows[i].bytes);
		if (assay_reply_take(w->got, w->page, &expected, &err) != ASSAY_EWORKER)
			fail_msg("accepted: %s", rows[i].want);
		snprintf(want, sizeof(want), "worker's reply makes no sense: %s", rows[i].want);
		if (strncmp(err.text, want, strlen(want)))
			fail_msg("want: %s\ngot: %s", want, err.text);
		assert_memory_equal(w->got, &zeros, sizeof(zeros));
	}
}

TEST(every_text_has_an_end)
{
#define TEXT(member)                                                                                                   \
	{                                                                                                              \
		offsetof(struct assay_worker_reply, member), sizeof(((struct assay_worker_reply *)0)->member), #member \
	}
	static const struct {
		size_t at, bytes;
		const char *name;
	} rows[] = { TEXT(reason),          TEXT(output_name),      TEXT(metrics[1].tag), TEXT(histograms[1].tag),
		     TEXT(counts[1].name),  TEXT(counts[1].how),    TEXT(wrong),          TEXT(deviation.reason),
		     TEXT(missing[0].name), TEXT(missing[0].reason) };
	struct world *w = *state;

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_err err = { 0 };

		fill(w->page);
		memset((char *)w->page + rows[i].at, '.', rows[i].bytes);
		assert_int_equal(assay_reply_take(w->got, w->page, &expected, &err), ASSAY_EWORKER);
		assert_non_null(strstr(err.text, rows[i].name));
		assert_non_null(strstr(err.text, "has no end"));
	}
}

/* A failure may have ended the samples early, before anything was known of the threads. */
TEST(a_failure_may_say_less)
{
	static const int32_t statuses[] = { ASSAY_STATUS_SKIPPED, ASSAY_STATUS_WRONG, ASSAY_STATUS_FAILED };
	struct world *w = *state;
	struct assay_err err = { 0 };

	for (size_t i = 0; i < N_OF(statuses); i++) {
		fill(w->page);
		w->page->status = statuses[i];
		w->page->n_samples = 1;
		w->page->n_threads = 0;
		assert_int_equal(assay_reply_take(w->got, w->page, &expected, &err), 0);
		assert_int_equal(w->got->n_samples, 1);
	}
}

/* Of a pair each side has two samples a block, only divided calls go on, and only those in slices lie side by side. */
TEST(a_pair_has_its_own_numbers)
{
	struct assay_order pair = { .command = ASSAY_CMD_PAIR, .token = 77, .args = { .iterations = 5, .count = 1 } };
	const struct assay_reply_expected of_pair = { .order = &pair, .n_threads = THREADS, .age_ns = AGE_NS };
	struct world *w = *state;
	struct assay_err err = { 0 };

	fill(w->page);
	w->page->n_samples = 2;
	assert_int_equal(assay_reply_take(w->got, w->page, &of_pair, &err), 0);
	w->page->samples[0].flags |= ASSAY_SAMPLE_CONTINUES;
	assert_int_equal(assay_reply_take(w->got, w->page, &of_pair, &err), ASSAY_EWORKER);
	pair.args.turn_parts = 3;
	assert_int_equal(assay_reply_take(w->got, w->page, &of_pair, &err), 0);
	w->page->samples[1].flags |= ASSAY_SAMPLE_BESIDE;
	assert_int_equal(assay_reply_take(w->got, w->page, &of_pair, &err), ASSAY_EWORKER);
	pair.args.slice_ns = 250000;
	assert_int_equal(assay_reply_take(w->got, w->page, &of_pair, &err), 0);
	pair.command = ASSAY_CMD_RECHECK;
	assert_int_equal(assay_reply_take(w->got, w->page, &of_pair, &err), ASSAY_EWORKER);
	assert_non_null(strstr(err.text, "n_samples 2, 0 were asked for"));
}

/* The times that a worker tells lie between the order and now, but for what two CPUs may differ by. */
TEST(a_clock_that_goes_wrong_is_noticed)
{
	static const struct assay_clock clock = { .ns_per_tick = 0.5 };
	static const struct {
		uint64_t begun, ended;
		const char *reason;
	} cases[] = {
		{ 100000000, 200000000, "" },
		{ 98000001, 201999999, "" },
		{ 97900000, 200000000, "its clock is behind the controller's" },
		{ 100000000, 202100000, "its clock is ahead of the controller's" },
	};
	struct assay_reply_expected e = expected;
	struct world *w = *state;

	e.given_ticks = 100000000;
	e.now_ticks = 200000000;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_err err = { 0 };

		fill(w->own);
		w->own->begun_ticks = cases[i].begun;
		w->own->ended_ticks = cases[i].ended;
		assay_reply_publish(w->page, w->own);
		e.clock = &clock;
		assert_int_equal(!!assay_reply_take(w->got, w->page, &e, &err), !!cases[i].reason[0]);
		assert_non_null(strstr(err.text, cases[i].reason));
		e.clock = NULL; /* a simulator's */
		assert_int_equal(assay_reply_take(w->got, w->page, &e, &err), 0);
	}
}

/* A word that changes and wakes all the time does not keep the controller from looking at the clock. */
TEST(a_restless_turn_does_not_hold_the_controller)
{
	struct assay_page *page;
	struct assay_err err = { 0 };
	bool mine;
	int fd;
	pid_t pid;

	assert_int_equal(assay_page_create(&page, NULL, &fd, &err), 0);
	assay_page_give(page, ASSAY_TURN_WORKER);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (uint32_t i = 0;; i++)
			assay_page_give(page, (enum assay_turn)(2 + i % 2));
	}
	mine = assay_page_wait(page, ASSAY_TURN_CONTROLLER, 20000000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_false(mine);
	close(fd);
	assay_page_unmap(page);
}

/* ---- reply text ---- */

/* No text of a worker's answer leaves as it came, however many entries the answer claims. */

static struct assay_worker_reply r;

static void spoil(char *text, size_t bytes)
{
	memset(text, 'z', bytes);
	memcpy(text, "a\033[1m\n\xff", 7);
}

static void assert_clean(const char *text, size_t bytes)
{
	assert_int_equal(bytes - 1, strlen(text));
	assert_memory_equal("a?[1m ?z", text, 8);
}

#define ONE(member)                                                                                                    \
	{                                                                                                              \
		offsetof(struct assay_worker_reply, member), sizeof(r.member), 0, 1                                    \
	}
#define ALL(array, member)                                                                                             \
	{                                                                                                              \
		offsetof(struct assay_worker_reply, array[0].member), sizeof(r.array[0].member), sizeof(r.array[0]),   \
			N_OF(r.array)                                                                                  \
	}

TEST(all_texts)
{
	static const struct {
		size_t at, bytes, step, n; /* of the first, and of how many how far apart */
	} texts[] = { ONE(reason),          ONE(output_name),    ALL(metrics, tag), ALL(histograms, tag),
		      ALL(counts, name),    ALL(counts, source), ALL(counts, how),  ALL(missing, name),
		      ALL(missing, source), ALL(missing, reason) };

	r.n_metrics = r.n_counts = r.n_missing = r.n_histograms = UINT32_MAX;
	for (size_t i = 0; i < N_OF(texts); i++)
		for (size_t k = 0; k < texts[i].n; k++)
			spoil((char *)&r + texts[i].at + k * texts[i].step, texts[i].bytes);
	assay_reply_make_printable(&r);
	for (size_t i = 0; i < N_OF(texts); i++)
		for (size_t k = 0; k < texts[i].n; k++)
			assert_clean((char *)&r + texts[i].at + k * texts[i].step, texts[i].bytes);
}

/* Entries that nobody counted are not looked at. */
TEST(no_more_than_there_are)
{
	r.n_metrics = 1;
	spoil(r.metrics[0].tag, sizeof(r.metrics[0].tag));
	spoil(r.metrics[1].tag, sizeof(r.metrics[1].tag));
	assay_reply_make_printable(&r);
	assert_clean(r.metrics[0].tag, sizeof(r.metrics[0].tag));
	assert_int_equal('\033', r.metrics[1].tag[1]);
}

UNIT_GROUP(set_up, tear_down)
