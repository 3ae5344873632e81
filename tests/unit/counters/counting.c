/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting in several threads, sets that take turns, and reasons: with a scripted provider, and with PAPI's
 * software-defined events.
 */
#include <pthread.h>

#include "unit.h"
#include "counters/counting.h"

#define THREADS 3

/* ---- a pool, and a provider that counts what it is told ---- */

struct call {
	assay_parallel_fn fn;
	void *arg;
	uint32_t tid;
};

static void *run_one(void *p)
{
	const struct call *c = p;

	c->fn(c->arg, c->tid, THREADS);
	return NULL;
}

/* New threads each time would lose what PAPI keeps of a thread; that is PAPI's affair and none of these tests'. */
static void parallel(void *pool, assay_parallel_fn fn, void *arg)
{
	pthread_t t[THREADS];
	struct call c[THREADS];

	for (uint32_t i = 1; i < THREADS; i++) {
		c[i] = (struct call){ fn, arg, i };
		assert_int_equal(pthread_create(&t[i], NULL, run_one, &c[i]), 0);
	}
	fn(arg, 0, THREADS);
	for (uint32_t i = 1; i < THREADS; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
}

#define CAPACITY 2
struct script_set {
	size_t n;
	char event[CAPACITY][32];
	uint64_t value;
	bool running;
};
static _Atomic int open_sets, running_sets;

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	*out = (struct assay_counter_probe){ .works = true };
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	*set = calloc(1, sizeof(struct script_set));
	open_sets++;
	return *set ? 0 : ASSAY_ENOMEM;
}

static int add(void *set, const char *event, struct assay_err *err)
{
	struct script_set *s = set;

	if (strncmp(event, "script_", 7))
		return assay_err_set(err, ASSAY_ENOTFOUND, "no '%s'", event);
	if (!strcmp(event, "script_forbidden"))
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "'%s' is forbidden", event);
	if (s->n == CAPACITY || !strcmp(event, "script_huge"))
		return assay_err_set(err, ASSAY_ELIMIT, "'%s' needs more counters than there are", event);
	strcpy(s->event[s->n++], event);
	return 0;
}

static int start(void *set, struct assay_err *err)
{
	struct script_set *s = set;

	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->event[i], "script_stuck"))
			return assay_err_set(err, ASSAY_EUNAVAILABLE, "it does not start");
	s->running = true;
	running_sets++;
	return 0;
}

/* Event script_N counts N more at every second reading: N a sample in every thread. */
static int read_set(void *set, uint64_t *values)
{
	struct script_set *s = set;

	for (size_t i = 0; i < s->n; i++) {
		if (!strcmp(s->event[i], "script_unread"))
			return ASSAY_EIO;
		values[i] = (uint64_t)atoi(s->event[i] + 7) * s->value;
	}
	s->value++;
	return 0;
}

static void stop_set(void *set)
{
	((struct script_set *)set)->running = false;
	running_sets--;
}

static void close_set(void *set)
{
	open_sets--;
	free(set);
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	snprintf(buf, size, "a script");
}

static const struct assay_counter_provider script = {
	.name = "script",
	.source = "pmu",
	.probe = probe,
	.open = open_set,
	.add = add,
	.start = start,
	.read = read_set,
	.stop = stop_set,
	.close = close_set,
	.how = how,
};
static const struct assay_counter_provider *const scripts[] = { &script };

/* ---- the tests ---- */

static void before(void *arg, uint32_t tid, uint32_t n)
{
	struct assay_os_counts os;

	assay_counting_before(arg, tid, &os);
}

static void after(void *arg, uint32_t tid, uint32_t n)
{
	struct assay_os_counts os;

	assay_counting_after(arg, tid, &os);
}

static struct assay_counting *start_counting(struct assay_counter_context *ctx, const char *events,
					     const struct assay_counter_provider *const *providers, size_t n)
{
	const struct assay_counting_options o = { .ctx = ctx,
						  .events = events,
						  .n_threads = THREADS,
						  .parallel = parallel,
						  .providers = providers,
						  .n_providers = n };
	struct assay_counting *c;

	assert_int_equal(assay_counting_open(&c, &o, NULL), 0);
	return c;
}

static struct assay_counters samples(struct assay_counting *c, unsigned n, uint64_t iterations, void (*work)(void *),
				     void *arg)
{
	struct assay_counters out = { 0 };

	for (unsigned i = 0; i < n; i++) {
		parallel(NULL, before, c);
		if (work)
			work(arg);
		parallel(NULL, after, c);
		assay_counting_add(c, iterations);
	}
	assert_int_equal(assay_counting_result(c, &out), 0);
	return out;
}

static double value(const struct assay_counters *c, const char *name)
{
	const struct assay_count *v = assay_counters_find(c, name);

	if (!v)
		fail_msg("%s was not counted", name);
	return v->value;
}

static const char *reason(const struct assay_counters *c, const char *name)
{
	const struct assay_unavailable *u = assay_counters_find_missing(c, name);

	if (!u)
		fail_msg("%s was counted, or never asked for", name);
	return u->reason;
}

/* Five events, two a set: three sets take turns, and each thread counts for itself. */
TEST(test_turns)
{
	struct assay_counter_context ctx = { 0 };
	struct assay_counting *c;
	struct assay_counters out;

	c = start_counting(
		&ctx, "a\tscript_10\nscript_20\tscript_20\nb\tnothing\tscript_30\nscript_40\tscript_40\nc\tscript_50\n",
		scripts, 1);
	out = samples(c, 7, 10, NULL, NULL);
	assert_int_equal(out.n, 5);
	assert_int_equal(out.n_missing, 0);
	/* N a thread and sample of ten iterations, however often a set had its turn */
	assert_true(value(&out, "a") == 3 && value(&out, "script_20") == 6 && value(&out, "b") == 9);
	assert_true(value(&out, "script_40") == 12 && value(&out, "c") == 15);
	assert_string_equal(out.v[0].how, "a script, as script_10");
	assert_string_equal(out.v[1].how, "a script");
	assert_true(out.v[0].per_iteration && out.v[0].running_frac == 1);
	assert_int_equal(running_sets, THREADS);
	assay_counting_close(c);
	assay_counters_release(&out);
	assert_int_equal(open_sets, 0);
	assert_int_equal(running_sets, 0);

	/* too few samples for all to have their turn */
	c = start_counting(&ctx, "a\tscript_10\nb\tscript_20\nc\tscript_30\n", scripts, 1);
	out = samples(c, 1, 1, NULL, NULL);
	assert_true(value(&out, "a") == 30);
	assert_string_equal(
		reason(&out, "c"),
		"2 sets of counters take turns, but there were only 1 samples: give the case a larger budget");
	assay_counting_close(c);
	assay_counters_release(&out);
}

/* An event that fails has a reason, and the rest is counted. */
TEST(test_reasons)
{
	static const struct {
		const char *event, *want;
	} cases[] = {
		{ "script_forbidden", "'script_forbidden' is forbidden" },
		{ "script_huge", "'script_huge' needs more counters than there are" },
		{ "script_unread", "it cannot be read" },
		{ "script_stuck", "it does not start" },
		{ "other", "no 'other'" },
	};
	struct assay_counter_context ctx = { 0 };

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_counting *c;
		struct assay_counters out;
		char events[128];

		snprintf(events, sizeof(events), "a\tscript_10\nb\tscript_20\nx\t%s\n", cases[i].event);
		c = start_counting(&ctx, events, scripts, 1);
		out = samples(c, 4, 1, NULL, NULL);
		assert_true(value(&out, "a") == 30 && value(&out, "b") == 60);
		assert_string_equal(reason(&out, "x"), cases[i].want);
		assay_counting_close(c);
		assay_counters_release(&out);
		assert_int_equal(open_sets, 0);
	}
}

/* ---- a provider that only lists its events ---- */

/* ---- what ops publish ---- */

static const char *const cell_names[] = { "hits", "misses" };

static void publish(void *arg)
{
	uint64_t *cells = arg;

	__atomic_fetch_add(&cells[0], 30, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cells[1], 10, __ATOMIC_RELAXED);
}

static void check_cells(struct assay_counter_context *ctx, uint64_t *cells, const char *source)
{
	struct assay_counting *c;
	struct assay_counters out;

	cells[0] = 1000; /* what came before does not count */
	c = start_counting(ctx, "misses\tmisses\nhits\thits\nminor_faults\tminor_faults\nlost\tlost\n", NULL, 0);
	out = samples(c, 5, 10, publish, cells);
	assert_true(value(&out, "hits") == 3 && value(&out, "misses") == 1);
	assert_string_equal(assay_counters_find(&out, "hits")->source, source);
	assert_string_equal(assay_counters_find(&out, "minor_faults")->source, "os");
	assert_true(value(&out, "minor_faults") >= 0);
	assert_true(reason(&out, "lost")[0] != '\0');
	assay_counting_close(c);
	assay_counters_release(&out);
}

TEST(test_cells_from_memory)
{
	struct assay_counter_context ctx;
	uint64_t cells[2] = { 0 };

	setenv("ASSAY_PAPI", "0", 1);
	assay_counter_context_init(&ctx, cell_names, cells, 2);
	check_cells(&ctx, cells, "op");
	assert_non_null(strstr(ctx.sde_reason, "PAPI"));
	unsetenv("ASSAY_PAPI");
}

/* PAPI keeps what is published for as long as it is loaded, so the cells live as long. */
TEST(test_cells_through_papi)
{
	static struct assay_counter_context ctx;
	static uint64_t cells[2];
	static const char *const more_names[] = { "c00", "c01", "c02", "c03", "c04", "c05", "c06", "c07", "c08",
						  "c09", "c10", "c11", "c12", "c13", "c14", "c15", "c16", "c17",
						  "c18", "c19", "c20", "c21", "c22", "c23", "c24", "c25", "c26",
						  "c27", "c28", "c29", "c30", "c31", "c32", "c33", "c34", "c35",
						  "c36", "c37", "c38", "c39", "c40", "c41", "c42", "c43" };
	static struct assay_counter_context more;
	static uint64_t many[N_OF(more_names)];
	struct assay_counting *c;
	struct assay_counters out;
	char events[2048] = "";

	assay_counter_context_init(&ctx, cell_names, cells, 2);
	assay_counter_papi(&ctx);
	if (ctx.sde_reason[0]) {
		print_message("no software-defined events here: %s\n", ctx.sde_reason);
		skip();
	}
	check_cells(&ctx, cells, "sde");

	/* an event set takes 40: the others have a turn of their own */
	assay_counter_context_init(&more, more_names, many, N_OF(more_names));
	for (size_t i = 0; i < N_OF(more_names); i++)
		snprintf(events + strlen(events), sizeof(events) - strlen(events), "%s\t%s\n", more_names[i],
			 more_names[i]);
	c = start_counting(&more, events, NULL, 0);
	out = samples(c, 1, 1, NULL, NULL);
	assert_int_equal(out.n, 40);
	assay_counters_release(&out);
	out = samples(c, 3, 1, NULL, NULL);
	assert_int_equal(out.n, N_OF(more_names));
	assay_counting_close(c);
	assay_counters_release(&out);
}

UNIT_GROUP(NULL, NULL)
