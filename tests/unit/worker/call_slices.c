/* SPDX-License-Identifier: Apache-2.0 */
/* Long calls of the two sides, cut into slices: what each side has to itself, and what belongs to a sample. */
#include "pair_world.h"
#include "worker/pair/call_slices.h"

#include <fcntl.h>
#include <unistd.h>

#define MAX_RECORDS 4096

/* A begin or an end of a call, as compare_slices writes it. */
struct record {
	int64_t process, output, end;
};

struct trace {
	char path[32];
	int fd;
	struct record v[MAX_RECORDS];
	size_t n;
};

static void trace_open(struct trace *t)
{
	*t = (struct trace){ .path = "/tmp/assay-trace-XXXXXX" };
	t->fd = mkstemp(t->path);
	assert_true(t->fd >= 0);
	setenv("ASSAY_TEST_TRACE", t->path, 1);
}

static void trace_clear(struct trace *t)
{
	assert_int_equal(ftruncate(t->fd, 0), 0);
}

static void trace_read(struct trace *t)
{
	assert_int_equal(lseek(t->fd, 0, SEEK_SET), 0);
	t->n = (size_t)read(t->fd, t->v, sizeof(t->v)) / sizeof(t->v[0]);
	assert_true(t->n && t->n < MAX_RECORDS);
}

static void trace_close(struct trace *t)
{
	unsetenv("ASSAY_TEST_TRACE");
	unlink(t->path);
	close(t->fd);
}

/* Read from the trace the calls that began while one of the other process was under way. */
struct beside {
	size_t calls;
	size_t same;  /* that wrote to one output with the other */
	bool swapped; /* each side has one of two outputs for two calls, then the other */
};

static struct beside calls_beside(const struct trace *t)
{
	struct beside b = { .swapped = true };
	const struct record *open[2] = { NULL, NULL };
	int64_t before = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct record *r = &t->v[i];
		const int side = r->process != t->v[0].process;
		const struct record *other = open[!side];

		assert_int_equal(r->end, open[side] != NULL);
		b.same += other && other->output == r->output;
		open[side] = r->end ? NULL : r;
		if (r->end || !other)
			continue;
		b.swapped &= !b.calls || (open[0]->output == before) == (b.calls % 2 == 1);
		before = open[0]->output;
		b.calls++;
	}
	return b;
}

static unsigned cpus(const struct world *w)
{
	return (unsigned)assay_placement_max(w->topology, &(struct assay_placement_options){ 0 });
}

static void plan_slices(struct world *w, unsigned threads, struct measured *m)
{
	if (!assay_call_slices_possible())
		skip();
	plan(w, (const char *const[2]){ "compare_slices", "compare_slices" }, m);
	m->c.threads = threads;
	assert_int_equal(assay_case_make_key(&m->c, NULL), 0);
}

/*
 * The first pair finds that calls are long. From the next on each call of a side is under way beside one of the other,
 * on a copy that the other does not have, on as many threads as the case has.
 */
TEST(long_calls_are_sliced)
{
	for (unsigned threads = 1; threads <= 2 && threads <= cpus(*state); threads++) {
		struct assay_pair_calibration calibration = { 0 };
		struct assay_measure_options o;
		struct measured m;
		struct trace t;

		trace_open(&t);
		plan_slices(*state, threads, &m);
		o = options_of(*state, &m);
		for (int pair = 0; pair < 3; pair++) {
			struct beside b;

			trace_clear(&t);
			calibration.slices = pair; /* else one that was disturbed might have ended it */
			take_pair_as(&o, (struct assay_pair_options){ .pair_seed = 7 + (uint64_t)pair }, &calibration,
				     &m);
			assert_ok(&m);
			assert_true(pair ? m.pair.n_blocks >= 2 : calibration.slices && !m.pair.n_blocks);
			trace_read(&t);
			b = calls_beside(&t);
			assert_int_equal(b.same, 0);
			if (threads == 1 || !pair)
				assert_int_equal(b.calls, 2 * m.pair.n_blocks);
			assert_true(threads > 1 || b.swapped);
			for (int side = 0; side < 2; side++)
				for (size_t i = 0; i < 2 * m.pair.n_blocks; i++)
					assert_true(m.pair.side[side].samples[i].flags & ASSAY_SAMPLE_BESIDE);
		}
		trace_close(&t);
		release(&m);
	}
}

/*
 * Inputs and outputs take some 4 KiB each. A second copy of both must not drive the case out of the last-level cache;
 * there the inputs are common instead, or calls stay whole.
 */
TEST(copies_fit_into_the_cache)
{
	static const struct {
		uint64_t llc;
		bool slices, inputs_only;
	} rows[] = {
		{ 0, true, false },       { 6 << 10, true, false },  { 9 << 10, false, false },
		{ 13 << 10, true, true }, { 22 << 10, true, false },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_pair_calibration calibration = { 0 };
		struct assay_host_info host = ((struct world *)*state)->host;
		struct assay_measure_options o;
		struct measured m;

		plan_slices(*state, 1, &m);
		o = options_of(*state, &m);
		host.llc_bytes = rows[i].llc;
		o.worker.host = &host;
		take_pair(&o, &calibration, &m);
		assert_ok(&m);
		if (calibration.slices != rows[i].slices || calibration.inputs_only != rows[i].inputs_only)
			fail_msg("cache of %llu bytes: slices %d, common inputs %d", (unsigned long long)rows[i].llc,
				 calibration.slices, calibration.inputs_only);
		take_pair(&o, &calibration, &m);
		assert_ok(&m);
		/* as a run has it */
		assert_true(side_value(&m.pair.side[ASSAY_HEAD], "op_bytes") == 8196);
		release(&m);
	}
}

/* A thread of the plugin's own would go on while the other side has the turn; and some calls fail when they are cut. */
TEST(who_cannot_be_cut_is_measured_in_whole_calls)
{
	static const char *const names[] = { "ASSAY_TEST_OWN_THREAD", "ASSAY_TEST_FAIL_WHEN_CUT" };

	for (size_t i = 0; i < N_OF(names); i++) {
		struct assay_pair_calibration calibration = { 0 };
		struct assay_measure_options o;
		struct measured m;

		setenv(names[i], "1", 1);
		plan_slices(*state, 1, &m);
		o = options_of(*state, &m);
		for (int pair = 0; pair < 2; pair++) {
			take_pair(&o, &calibration, &m);
			assert_ok(&m);
		}
		assert_false(m.pair.side[ASSAY_HEAD].samples[0].flags & ASSAY_SAMPLE_BESIDE);
		unsetenv(names[i]);
		release(&m);
	}
}

/* Of calls with parts, these end samples, and inputs alone are common: the output is each side's own. */
TEST(parts_end_samples)
{
	struct assay_pair_calibration calibration = { 0 };
	struct assay_measure_options o;
	struct measured m;

	if (!assay_call_slices_possible())
		skip();
	plan(*state, (const char *const[2]){ "compare_parts", "compare_parts" }, &m);
	o = options_of(*state, &m);
	take_pair(&o, &calibration, &m);
	take_pair(&o, &calibration, &m);
	assert_ok(&m);
	assert_true(calibration.turn_parts == 1 && 2 * m.pair.n_blocks % 8 == 0);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < 2 * m.pair.n_blocks; i++)
			assert_int_equal(m.pair.side[side].samples[i].flags &
						 (ASSAY_SAMPLE_BESIDE | ASSAY_SAMPLE_CONTINUES),
					 ASSAY_SAMPLE_BESIDE | (i % 8 < 7 ? ASSAY_SAMPLE_CONTINUES : 0));
	release(&m);
}

/* A first pair that finds its calls to be long leaves its samples to those that follow, if there are any. */
TEST(a_pair_alone_is_sampled)
{
	for (int alone = 0; alone < 2; alone++) {
		struct assay_pair_calibration calibration = { 0 };
		struct assay_measure_options o;
		struct measured m;

		plan_slices(*state, 1, &m);
		o = options_of(*state, &m);
		take_pair_as(&o, (struct assay_pair_options){ .alone = alone }, &calibration, &m);
		assert_ok(&m);
		assert_true(calibration.slices);
		assert_int_equal(m.pair.n_blocks > 0, alone);
		release(&m);
	}
}

/* Sides that have nothing in common, since one of them cannot bear it, take turns call by call. */
TEST(own_memory_is_not_sliced)
{
	struct assay_pair_calibration calibration = { .own_memory = true };
	struct assay_measure_options o;
	struct measured m;

	plan_slices(*state, 1, &m);
	o = options_of(*state, &m);
	for (int pair = 0; pair < 2; pair++) {
		take_pair(&o, &calibration, &m);
		assert_ok(&m);
		assert_false(m.pair.side[0].samples[0].flags & ASSAY_SAMPLE_BESIDE);
	}
	release(&m);
}

#define SWITCHES "voluntary_switches"

/* A side that cannot go on ends the pair, in the middle of the other one's call. */
TEST(a_crash_between_slices)
{
	struct assay_pair_calibration calibration = { 0 };
	struct assay_measure_options o;
	struct measured m;

	plan_slices(*state, 1, &m);
	o = options_of(*state, &m);
	take_pair(&o, &calibration, &m);
	setenv("ASSAY_TEST_DIE_AT", "6", 1);
	take_pair(&o, &calibration, &m);
	unsetenv("ASSAY_TEST_DIE_AT");
	assert_true(m.pair.side[ASSAY_BASE].status == ASSAY_STATUS_CRASHED ||
		    m.pair.side[ASSAY_HEAD].status == ASSAY_STATUS_CRASHED);
	release(&m);
}

/* Whose slice begins at @ns? */
static unsigned owner_at(uint64_t seed, uint64_t ns, uint64_t slice_ns)
{
	const bool head = assay_pair_slice_ns(seed, 1, ns - slice_ns / 2, slice_ns) == ns;

	assert_int_equal(assay_pair_slice_ns(seed, 0, ns - slice_ns / 2, slice_ns) == ns, !head);
	return head;
}

/* An event of every 2^n slices comes to both sides equally often, wherever it begins. */
TEST(slices_share_what_is_periodic)
{
	enum { SLICE = 250000, TIMES = 64 };

	for (uint64_t seed = 0; seed < 2; seed++)
		for (uint64_t period = 1; period <= 64; period *= 2)
			for (uint64_t begin = 1000; begin < 1000 + period; begin++) {
				unsigned head = 0;

				for (uint64_t i = 0; i < TIMES; i++)
					head += owner_at(seed, (begin + i * period) * SLICE, SLICE);
				if (head < TIMES / 2 - 1 || head > TIMES / 2 + 1)
					fail_msg("every %u slices from %u: %u of %u fall on the head", (unsigned)period,
						 (unsigned)begin, head, TIMES);
			}
}

/* A turn is worth its hand-over, and not long. */
TEST(slices_have_a_length)
{
	enum { SLICE = 250000 };

	for (uint64_t now = UINT64_C(77) * SLICE; now < UINT64_C(141) * SLICE; now += SLICE / 8)
		for (unsigned side = 0; side < 2; side++) {
			const uint64_t next = assay_pair_slice_ns(1, side, now, SLICE);

			assert_in_range(next - now, SLICE / 4 + 1, 3 * SLICE + SLICE / 4);
			assert_int_equal(next % SLICE, 0);
		}
}

MEASURE_GROUP
