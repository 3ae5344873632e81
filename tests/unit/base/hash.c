/* SPDX-License-Identifier: Apache-2.0 */
/* Digests against the values that xxh128sum prints, and streaming against one call. */
#include <signal.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/lanes.h"
#include "unit.h"

TEST(known_values)
{
	static const struct {
		const char *data, *want;
	} cases[] = {
		/* the empty string: the test vector of XXH3_128bits in the xxHash specification */
		{ "", "99aa06d3014798d86001c324468d497f" },
		{ "a", "a96faf705af16834e6c632b61e964e1f" },
		{ "abc", "06b05ab6733a618578af5f94892f3950" },
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		assert_string_equal(assay_hash(cases[i].data, strlen(cases[i].data)).hex, cases[i].want);
}

TEST(streaming_is_the_same)
{
	unsigned char data[5000];
	struct assay_digest whole;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 31 + (i >> 5));
	whole = assay_hash(data, sizeof(data));
	for (size_t step = 1; step < sizeof(data); step = step * 3 + 1) {
		struct assay_hasher *h = assay_hasher_new();

		assert_non_null(h);
		for (size_t at = 0; at < sizeof(data); at += step)
			assay_hasher_add(h, data + at, at + step < sizeof(data) ? step : sizeof(data) - at);
		assay_hasher_add(h, NULL, 0);
		assert_string_equal(assay_hasher_finish(h).hex, whole.hex);
	}

	data[4999] ^= 1;
	assert_string_not_equal(assay_hash(data, sizeof(data)).hex, whole.hex);
}

/* ---- name index ---- */

/* Names find their numbers, whatever their hashes and however many they are. */

/* ---- lanes ---- */

/* Tasks in processes beside each other: what they tell comes back whole, and whatever becomes of one is told. */

#define TASKS 7

struct world {
	size_t begun, running, most_running, limit;
	size_t told[TASKS], bytes[TASKS];
	bool over[TASKS];
	struct assay_err why[TASKS];
	int in_task; /* what tasks change is theirs alone */
	int (*work)(struct world *w, size_t task, const struct assay_lane *lane, struct assay_err *err);
	size_t interrupt_at; /* once so many have begun; 0: never */
	volatile sig_atomic_t interrupted;
	int refused; /* what the parent says to the first word */
};

static bool next(void *arg, size_t *task)
{
	struct world *w = arg;

	if (w->begun == TASKS || w->running == w->limit)
		return false;
	*task = w->begun++;
	w->interrupted = w->begun == w->interrupt_at;
	w->running++;
	w->most_running = w->running > w->most_running ? w->running : w->most_running;
	return true;
}

static int work(void *arg, size_t task, const struct assay_lane *lane, struct assay_err *err)
{
	struct world *w = arg;

	w->in_task++;
	return w->work(w, task, lane, err);
}

static int heard(void *arg, size_t task, unsigned kind, const char *bytes, size_t n, struct assay_err *err)
{
	struct world *w = arg;

	assert_int_equal(kind, w->told[task]++);
	for (size_t i = 0; i < n; i++)
		assert_int_equal((unsigned char)bytes[i], (task + kind) & 255);
	w->bytes[task] += n;
	return w->refused ? assay_err_set(err, w->refused, "not that") : 0;
}

static int ended(void *arg, size_t task, const struct assay_err *why, struct assay_err *err)
{
	struct world *w = arg;

	w->running--;
	w->over[task] = true;
	w->why[task] = *why;
	return why->code == ASSAY_EINTERRUPTED ? assay_err_set(err, why->code, "%s", why->text) : 0;
}

static int run(struct world *w, struct assay_err *err)
{
	const struct assay_lanes l = {
		.arg = w, .next = next, .work = work, .heard = heard, .ended = ended, .interrupted = &w->interrupted
	};

	return assay_lanes_run(&l, err);
}

/* Three records of a size that no pipe holds at once. */
static int tell(struct world *w, size_t task, const struct assay_lane *lane, struct assay_err *err)
{
	static char bytes[200000];

	(void)w;
	for (unsigned kind = 0; kind < 3; kind++) {
		memset(bytes, (int)((task + kind) & 255), sizeof(bytes));
		if (!assay_lane_tell(lane, kind, bytes, task * 20000))
			return -1;
	}
	return task == 4 ? assay_err_set(err, ASSAY_EUNAVAILABLE, "task %zu says why", task) : 0;
}

TEST(what_tasks_tell_comes_back_whole)
{
	for (size_t limit = 1; limit <= TASKS; limit += 3) {
		struct world w = { .work = tell, .limit = limit };

		assert_int_equal(run(&w, NULL), 0);
		assert_int_equal(w.begun, TASKS);
		assert_int_equal(w.most_running, limit);
		assert_int_equal(w.in_task, 0);
		for (size_t i = 0; i < TASKS; i++) {
			assert_true(w.over[i]);
			assert_int_equal(w.told[i], 3);
			assert_int_equal(w.bytes[i], 3 * i * 20000);
			assert_int_equal(w.why[i].code, i == 4 ? ASSAY_EUNAVAILABLE : 0);
		}
		assert_string_equal(w.why[4].text, "task 4 says why");
	}
}

static int die(struct world *w, size_t task, const struct assay_lane *lane, struct assay_err *err)
{
	(void)w;
	(void)lane;
	(void)err;
	if (task == 2)
		raise(SIGKILL);
	return 0;
}

TEST(a_task_that_dies_is_told_and_the_others_go_on)
{
	struct world w = { .work = die, .limit = 2 };

	assert_int_equal(run(&w, NULL), 0);
	for (size_t i = 0; i < TASKS; i++)
		assert_int_equal(w.why[i].code, i == 2 ? ASSAY_EIO : 0);
	assert_non_null(strstr(w.why[2].text, "signal 9"));
}

static int wait_to_stop(struct world *w, size_t task, const struct assay_lane *lane, struct assay_err *err)
{
	(void)w;
	for (int i = 0; i < 5000 && !*assay_lane_stop(lane); i++)
		usleep(1000);
	return assay_err_set(err, ASSAY_EINTERRUPTED, "task %zu stopped", task);
}

static int stop_itself(struct world *w, size_t task, const struct assay_lane *lane, struct assay_err *err)
{
	(void)w;
	(void)lane;
	(void)err;
	if (task == 2)
		raise(SIGSTOP);
	return 0;
}

TEST(a_task_that_is_held_stopped_is_killed_and_told)
{
	struct world w = { .work = stop_itself, .limit = 2 };

	alarm(60);
	assert_int_equal(run(&w, NULL), 0);
	alarm(0);
	for (size_t i = 0; i < TASKS; i++)
		assert_int_equal(w.why[i].code, i == 2 ? ASSAY_EIO : 0);
	assert_string_equal(w.why[2].text, "a process of this program was stopped by another");
}

TEST(an_interrupt_stops_what_runs_and_begins_no_more)
{
	struct world w = { .work = wait_to_stop, .limit = 2, .interrupt_at = 2 };
	struct assay_err err = { 0 };

	assert_int_equal(run(&w, &err), ASSAY_EINTERRUPTED);
	assert_int_equal(w.begun, 2);
	assert_true(w.over[0] && w.over[1]);
}

TEST(who_cannot_use_what_was_told_ends_all)
{
	struct world w = { .work = tell, .limit = 1, .refused = ASSAY_ENOMEM };
	struct assay_err err = { 0 };

	assert_int_equal(run(&w, &err), ASSAY_ENOMEM);
	assert_string_equal(err.text, "not that");
	assert_int_equal(w.begun, 1);
	assert_int_equal(w.told[0], 1);
}

UNIT_GROUP(NULL, NULL)
