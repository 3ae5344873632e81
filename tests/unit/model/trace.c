/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: how spans nest, and the critical path through threads that wait for each other. */
#include "emit_fixture.h"

#include <jansson.h>

#include "model/profile.h"
#include "model/profile_diff.h"
#include "profile/profile.h"

#define NONE ASSAY_TRACE_NONE

/* A span of a track; waits have a waker. */
static void add(struct assay_trace *t, size_t track, const char *name, uint64_t begin, uint64_t end, bool wait,
		size_t waker)
{
	struct assay_trace_span s = { .track = track, .begin_ns = begin, .end_ns = end, .wait = wait, .waker = waker };

	assert_int_equal(assay_trace_name(t, name, &s.name, NULL), 0);
	assert_int_equal(assay_trace_add_span(t, &s, NULL), 0);
}

/* Tracks 0 and 1, the threads "t1" and "t2" of one process. */
static void add_threads(struct assay_trace *t)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct assay_trace_track track = { .name = { 't', (char)('1' + i) }, .process = 1 };

		assert_int_equal(assay_trace_add_track(t, &track, NULL), 0);
	}
}

/*
 * Two threads from 1000 to 1100. The first works to 1020, waits to 1060 for the second, works to 1080, and sleeps, for
 * which nobody is known to be the reason. The second works throughout, from 1030 on in a span of its own.
 */
static struct assay_trace make(void)
{
	struct assay_trace t = { 0 };

	add_threads(&t);
	add(&t, 1, "inner", 1030, 1101, false, NONE); /* leaves its parent by a tick */
	add(&t, 0, "pthread_mutex_lock", 1020, 1060, true, 1);
	add(&t, 0, "root", 1000, 1100, false, NONE);
	add(&t, 0, "sleep", 1080, 1100, true, NONE);
	add(&t, 1, "root", 1000, 1100, false, NONE);
	assay_trace_nest(&t);
	return t;
}

TEST(spans_nest_and_are_cut_at_their_parent)
{
	struct assay_trace t = make();
	static const struct {
		const char *name;
		size_t track, parent;
		uint64_t end;
	} want[] = { { "root", 0, NONE, 1100 },
		     { "pthread_mutex_lock", 0, 0, 1060 },
		     { "sleep", 0, 0, 1100 },
		     { "root", 1, NONE, 1100 },
		     { "inner", 1, 3, 1100 } };

	assert_int_equal(t.n_spans, N_OF(want));
	for (size_t i = 0; i < N_OF(want); i++) {
		assert_string_equal(t.names[t.spans[i].name], want[i].name);
		assert_int_equal(t.spans[i].track, want[i].track);
		assert_int_equal(t.spans[i].parent, want[i].parent);
		assert_int_equal(t.spans[i].end_ns, want[i].end);
	}
	assay_trace_release(&t);
}

TEST(stretches_cover_a_track_without_a_gap)
{
	struct assay_trace t = make();
	struct assay_trace_stretch *v = NULL;
	static const uint64_t want[][3] = {
		{ 0, 1000, 1020 }, { 1, 1020, 1060 }, { 0, 1060, 1080 }, { 2, 1080, 1100 }
	};
	size_t n = 0;

	assert_int_equal(assay_trace_flatten(&t, 0, &v, &n, NULL), 0);
	assert_int_equal(n, N_OF(want));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(v[i].span, want[i][0]);
		assert_int_equal(v[i].begin_ns, want[i][1]);
		assert_int_equal(v[i].end_ns, want[i][2]);
	}
	free(v);
	assay_trace_release(&t);
}

TEST(the_path_goes_through_whoever_is_waited_for)
{
	static const struct assay_trace_window all = { 1000, 1100 }, some[] = { { 1010, 1030 }, { 1050, 1070 } };
	static const struct {
		size_t track, span;
		uint64_t begin, end;
	} want[] = { { 1, 3, 1000, 1030 }, { 1, 4, 1030, 1060 }, { 0, 0, 1060, 1080 }, { 0, 2, 1080, 1100 } };
	struct assay_trace t = make();

	assert_int_equal(assay_trace_find_path(&t, 0, &all, 1, NULL), 0);
	assert_int_equal(t.n_path, N_OF(want));
	for (size_t i = 0; i < t.n_path; i++) {
		assert_int_equal(t.path[i].track, want[i].track);
		assert_int_equal(t.path[i].span, want[i].span);
		assert_int_equal(t.path[i].begin_ns, want[i].begin);
		assert_int_equal(t.path[i].end_ns, want[i].end);
	}
	t.n_path = 0;
	assert_int_equal(assay_trace_find_path(&t, 0, some, 2, NULL), 0);
	assert_int_equal(t.path[0].begin_ns, 1010);
	assert_int_equal(t.path[t.n_path - 1].end_ns, 1070);
	for (size_t i = 1; i < t.n_path; i++)
		assert_true(t.path[i].begin_ns == t.path[i - 1].end_ns || t.path[i].begin_ns == 1050);
	assay_trace_release(&t);
}

/* Each is said to have ended the wait of the other. */
TEST(threads_that_wait_for_each_other_end_nothing)
{
	static const struct assay_trace_window all = { 1000, 1100 };
	struct assay_trace t = make();
	uint64_t sum = 0;

	add(&t, 1, "pthread_mutex_lock", 1040, 1070, true, 0);
	assay_trace_nest(&t);
	assert_int_equal(assay_trace_find_path(&t, 0, &all, 1, NULL), 0);
	for (size_t i = 0; i < t.n_path; i++)
		sum += t.path[i].end_ns - t.path[i].begin_ns;
	assert_int_equal(sum, 100);
	assay_trace_release(&t);
}

/* Who joins a thread waits for it only while it lives. */
TEST(a_thread_that_is_gone_ends_nothing)
{
	static const struct assay_trace_window all = { 1000, 1100 };
	struct assay_trace t = { 0 };

	add_threads(&t);
	add(&t, 0, "root", 1000, 1100, false, NONE);
	add(&t, 0, "pthread_join", 1060, 1090, true, 1);
	add(&t, 1, "root", 1010, 1050, false, NONE);
	assay_trace_nest(&t);
	assert_int_equal(assay_trace_find_path(&t, 0, &all, 1, NULL), 0);
	assert_int_equal(t.n_path, 3);
	for (size_t i = 0; i < t.n_path; i++) {
		assert_int_equal(t.path[i].track, 0);
		assert_true(t.path[i].span != NONE);
	}
	assay_trace_release(&t);
}

/* The cause of a thread's beginning is looked for on the first thread, from which the path came. */
TEST(the_path_leaves_a_thread_at_its_beginning)
{
	static const struct assay_trace_window all = { 1000, 1100 };
	static const struct {
		size_t track;
		uint64_t begin, end;
	} want[] = { { 0, 1000, 1010 }, { 1, 1010, 1050 }, { 0, 1050, 1100 } };
	struct assay_trace t = { 0 };

	add_threads(&t);
	add(&t, 0, "root", 1000, 1100, false, NONE);
	add(&t, 0, "pthread_join", 1010, 1050, true, 1);
	add(&t, 1, "root", 1010, 1051, false, NONE);
	assay_trace_nest(&t);
	assert_int_equal(assay_trace_find_path(&t, 0, &all, 1, NULL), 0);
	assert_int_equal(t.n_path, N_OF(want));
	for (size_t i = 0; i < t.n_path; i++) {
		assert_int_equal(t.path[i].track, want[i].track);
		assert_int_equal(t.path[i].begin_ns, want[i].begin);
		assert_int_equal(t.path[i].end_ns, want[i].end);
		assert_true(t.path[i].span != NONE);
	}
	assay_trace_release(&t);
}

TEST(shares_are_those_of_the_stored_stacks)
{
	static const struct assay_trace_window all = { 1000, 1100 };
	struct assay_profile p = { .what = "./a \"<b>\"" };
	struct assay_trace_share *v = NULL;
	struct assay_report r = { .kind = ASSAY_REPORT_PROFILE, .profile = { .p = &p } };
	uint64_t path = 0;
	size_t n = 0;
	json_t *root;

	p.trace = make();
	assert_int_equal(assay_trace_find_path(&p.trace, 0, &all, 1, NULL), 0);
	assert_int_equal(assay_span_trace_profile(&p.trace, &p, NULL), 0);
	assert_int_equal(assay_trace_shares(&p, &v, &n, &path, NULL), 0);
	assert_int_equal(path, 100);
	assert_int_equal(n, 4);
	assert_string_equal(v[0].name, "root");
	assert_int_equal(v[0].path_ns, 50);
	assert_int_equal(v[0].path_total_ns, 100);
	assert_int_equal(v[0].self_ns, 70);
	assert_int_equal(v[0].total_ns, 200);
	assert_int_equal(v[0].times, 2);
	assert_string_equal(v[3].name, "pthread_mutex_lock");
	assert_int_equal(v[3].path_ns, 0);
	assert_int_equal(assay_trace_path_of(&p, "t1"), 40);
	assert_int_equal(assay_trace_path_of(&p, "t2"), 60);
	free(v);
	/* five spans, four parts of the path with its name, two tracks, a process, an arrow of two ends */
	root = json_loads(emit(&r, "trace", NULL), 0, NULL);
	assert_non_null(root);
	assert_int_equal(json_array_size(json_object_get(root, "traceEvents")), 5 + 5 + 4 + 1 + 2);
	json_decref(root);
	assert_true(has_line(emit(&r, "text", NULL), "  2 threads; 0 spans lost; the critical path takes 100 ns",
			     "40.0 % on t1; 60.0 % on t2"));
	assay_profile_release(&p);
}

static const struct assay_profile_change *change_of(const struct assay_profile_diff *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (strlen(name) == d->v[i].length && !strncmp(d->v[i].name, name, d->v[i].length))
			return &d->v[i];
	fail_msg("no %s", name);
	return NULL;
}

/* The head has one call of inner more; of a case time is that of an iteration: 10 ns of a path of 100, 20 of 200. */
TEST(traces_are_compared_by_span)
{
	static const struct assay_trace_window all[2] = { { 1000, 1100 }, { 1000, 1200 } };
	const struct assay_trace_span more = { .track = 1, .begin_ns = 1000, .end_ns = 1030, .waker = NONE };

	for (unsigned is_case = 0; is_case < 2; is_case++) {
		struct assay_profile p[2] = { { .iteration_ns = 10 }, { .iteration_ns = 20 } };
		struct assay_profile_diff d;
		struct assay_report r = { .kind = ASSAY_REPORT_PROFILE_DIFF, .profile_diff = &d };
		const struct assay_profile_change *c;
		const double scale = is_case ? 0.1 : 1;
		json_t *root;

		for (unsigned i = 0; i < 2; i++) {
			struct assay_trace_span extra = more;

			p[i].is_case = is_case;
			p[i].trace = make();
			assert_int_equal(assay_trace_name(&p[i].trace, "inner", &extra.name, NULL), 0);
			if (i)
				assert_int_equal(assay_trace_add_span(&p[i].trace, &extra, NULL), 0);
			assay_trace_nest(&p[i].trace);
			assert_int_equal(assay_trace_find_path(&p[i].trace, 0, &all[i], 1, NULL), 0);
			assert_int_equal(assay_span_trace_profile(&p[i].trace, &p[i], NULL), 0);
		}
		assert_int_equal(assay_profile_diff_make(&d, &p[0], &p[1], NULL), 0);
		assert_int_equal(d.n, 4);
		assert_int_equal(d.per_iteration, is_case);
		c = change_of(&d, "inner");
		assert_true(c == &d.v[0]);
		assert_float_equal(c->own[0], 70 * scale, 1e-9);
		assert_float_equal(c->own[1], 100 * scale, 1e-9);
		assert_float_equal(c->times[0], scale, 1e-9);
		assert_float_equal(c->times[1], 2 * scale, 1e-9);
		c = change_of(&d, "root");
		assert_float_equal(c->total[0], 200 * scale, 1e-9);
		assert_float_equal(c->own[1], 40 * scale, 1e-9);
		assert_float_equal(change_of(&d, "sleep")->change, 0, 1e-9);
		root = json_loads(emit(&r, "json", NULL), 0, NULL);
		assert_non_null(root);
		assert_int_equal(json_array_size(json_object_get(root, "spans")), 4);
		json_decref(root);
		if (is_case)
			assert_true(has_line(emit(&r, "text", NULL), "  +3.00 ns", "1.429"));
		assay_profile_diff_release(&d);
		for (unsigned i = 0; i < 2; i++)
			assay_profile_release(&p[i]);
	}
}

UNIT_GROUP(NULL, NULL)
