/* SPDX-License-Identifier: Apache-2.0 */
/* The trace that compare_trace writes of a pair's runs, and pairs that are traced. */
#ifndef ASSAY_TESTS_PAIR_TRACE_H
#define ASSAY_TESTS_PAIR_TRACE_H

#include "pair_world.h"

#include <unistd.h>

#define MAX_RUNS 65536

/* Runs of the two processes of a pair in their order, as compare_trace writes them. */
struct trace {
	char path[32];
	int fd;
	int64_t process[2]; /* in the order of their first runs */
	int32_t *copies[2]; /* of their runs */
	size_t n_runs[2];
	int64_t tensor[2], prepared[2], code[2], stack[2]; /* where they are in the last run */
	int64_t job[2];                                    /* of copy 0 */
};

static inline void trace_open(struct trace *t, const char *spin_ns)
{
	*t = (struct trace){ .path = "/tmp/assay-trace-XXXXXX" };
	t->fd = mkstemp(t->path);
	assert_true(t->fd >= 0);
	for (int i = 0; i < 2; i++)
		t->copies[i] = calloc(MAX_RUNS, sizeof(*t->copies[i]));
	assert_true(t->copies[0] && t->copies[1]);
	setenv("ASSAY_TEST_TRACE", t->path, 1);
	setenv("ASSAY_TEST_SPIN_NS", spin_ns, 1);
}

static inline void trace_close(struct trace *t)
{
	unsetenv("ASSAY_TEST_TRACE");
	unsetenv("ASSAY_TEST_SPIN_NS");
	unlink(t->path);
	close(t->fd);
	free(t->copies[0]);
	free(t->copies[1]);
}

/* Forget what was traced so far. */
static inline void trace_clear(struct trace *t)
{
	assert_int_equal(ftruncate(t->fd, 0), 0);
}

static inline void trace_read(struct trace *t)
{
	int64_t record[7];

	memset(t->process, 0, sizeof(t->process));
	memset(t->n_runs, 0, sizeof(t->n_runs));
	assert_int_equal(lseek(t->fd, 0, SEEK_SET), 0);
	while (read(t->fd, record, sizeof(record)) == sizeof(record)) {
		int i;

		/* a third process: the pair was taken again, and this one counts */
		if (t->process[1] && record[0] != t->process[0] && record[0] != t->process[1]) {
			memset(t->process, 0, sizeof(t->process));
			memset(t->n_runs, 0, sizeof(t->n_runs));
		}
		i = t->process[0] && record[0] != t->process[0];
		assert_true(t->n_runs[i] < MAX_RUNS);
		t->process[i] = record[0];
		t->copies[i][t->n_runs[i]++] = (int32_t)record[1];
		t->tensor[i] = record[2];
		t->prepared[i] = record[3];
		t->code[i] = record[4];
		t->stack[i] = record[5];
		t->job[i] = record[1] ? t->job[i] : record[6];
	}
	assert_true(t->n_runs[0] && t->n_runs[1]);
}

/* Pairs of calls that take @spin_ns, on @copies in turn, behind their first. */
struct later {
	struct assay_measure_options o;
	struct assay_pair_calibration calibration;
	struct measured m;
	struct trace t;
};

static inline void later_open(struct later *l, struct world *world, const char *spin_ns, uint64_t copies)
{
	*l = (struct later){ 0 };
	trace_open(&l->t, spin_ns);
	plan(world, (const char *const[2]){ "compare_trace", "compare_trace" }, &l->m);
	l->m.facts.copies = copies;
	l->o = options_of(world, &l->m);
	take_pair(&l->o, &l->calibration, &l->m);
}

static inline void later_close(struct later *l)
{
	trace_close(&l->t);
	release(&l->m);
}

/* The next pair, and how often its sides ran but for their samples. */
static inline void later_take(struct later *l, uint64_t seed, size_t others[2])
{
	trace_clear(&l->t);
	take_pair_as(&l->o, (struct assay_pair_options){ .pair_seed = seed, .iterations = l->m.pair.iterations },
		     &l->calibration, &l->m);
	assert_ok(&l->m);
	trace_read(&l->t);
	for (int side = 0; side < 2; side++)
		others[side] = l->t.n_runs[side] - 2 * l->m.pair.n_blocks * l->m.pair.iterations;
}

#endif
