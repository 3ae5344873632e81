/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons and certifications in the store: every bit comes back, whatever happens to the programs that write. */
#include "test_store_fixture.h"

#include <math.h>
#include <signal.h>

#include "store/store_comparison.h"

#define N_PAIRS 4

/* ---- made-up comparisons ---- */

static void set_text(char *to, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void set_text(char *to, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	assert_true(vsnprintf(to, size, fmt, ap) < (int)size);
	va_end(ap);
}
#define SET(to, ...) set_text(to, sizeof(to), __VA_ARGS__)

static void make_build(struct assay_build *b, unsigned i)
{
	memset(b, 0, sizeof(*b));
	SET(b->commit, "%040u", i);
	b->dirty = i & 1;
	SET(b->compiler, "gcc 12.%u", i);
	SET(b->flags, "-O2 -g -DX='%u'", i);
	SET(b->plugins, "%032u", 100 + i);
	SET(b->id, "%032u", 200 + i);
}

static void make_comparison(struct assay_comparison *cmp, const char *machine)
{
	memset(cmp, 0, sizeof(*cmp));
	SET(cmp->base, "main (%040d)", 0);
	SET(cmp->head, "it's \"my\" branch; DROP TABLE comparison; --");
	SET(cmp->suite, "quick");
	cmp->seed = 0xfedcba9876543210u;
	cmp->started_ns = 1700000000000000001u;
	make_build(&cmp->build[ASSAY_BASE], 0);
	make_build(&cmp->build[ASSAY_HEAD], 1);
	SET(cmp->machine.id, "%s", machine);
	SET(cmp->machine.label, "label of %s", machine);
	cmp->machine.n_facts = 2;
	SET(cmp->machine.facts[0].name, "cpu");
	SET(cmp->machine.facts[0].value, "a CPU");
	SET(cmp->machine.facts[1].name, "cores");
	SET(cmp->machine.facts[1].value, "2");
	cmp->alpha = 0.1 + 0.2; /* not the double nearest to 0.3 */
	cmp->budget_ns = 10000000000u;
	cmp->max_pairs = 30;
	cmp->family = 17;
	cmp->policy = strdup("margin = \"0.5%\"\n# \xc2\xb5\nalpha = 0.01\n");
	assert_non_null(cmp->policy);
}

static void make_case(struct assay_comparison_case *c, unsigned i, enum assay_control control)
{
	struct assay_result r;

	make_result(&r, i, 0);
	memset(c, 0, sizeof(*c));
	c->c = r.c;
	assay_result_release(&r);
	c->control = control;
	c->injected_frac = control == ASSAY_CONTROL_SLOWER ? 0.02 : 0;
	c->in_base = c->in_head = true;
}

/* Samples of extremes, and of small steps as clocks give them. */
static struct assay_sample *make_samples(size_t n, unsigned salt)
{
	struct assay_sample *v = calloc(n, sizeof(*v));

	assert_non_null(v);
	for (size_t k = 0; k < n; k++) {
		v[k] = (struct assay_sample){ .iterations = 40, .ns = 90000 + salt + (k * 7919) % 501 };
		if (k % 13 == 5)
			v[k] = (struct assay_sample){
				salt + k, UINT64_MAX - k, UINT32_MAX, (uint32_t)k, 3, UINT32_MAX
			};
	}
	return v;
}

/* Pair number @i, both sides ok. */
static void make_pair(struct assay_pair *p, unsigned i)
{
	memset(p, 0, sizeof(*p));
	p->seed = 0x8000000000000000u + i;
	p->iterations = 40 + i;
	p->extra_iterations[ASSAY_HEAD] = i;
	p->n_blocks = 5 + i % 7;
	p->steady = i & 1;
	p->wall_ns = 1234567890123u + i;
	for (unsigned k = 0; k < 2; k++) {
		struct assay_pair_side *side = &p->side[k];

		SET(side->digest, "%032u", i);
		SET(side->code_hash, "%032u", 10 * i + k);
		side->max_rel_err = k ? 1e-7 / 3 : -1;
		side->samples = make_samples(2 * p->n_blocks, 1000 * i + k);
		side->n_metrics = 1 + k;
		side->metrics = calloc(side->n_metrics, sizeof(*side->metrics));
		assert_non_null(side->metrics);
		side->metrics[0] = (struct assay_metric){ "tokens_per_s", "1/s", 1, 100.0 / (3 + i), "sde", i == 1 };
		if (k)
			side->metrics[1] = (struct assay_metric){ "hit_rate", "1", -1, 0.0, "", false };
		if (k)
			make_counters(&side->counters);
	}
}

static void drop_samples(struct assay_pair *p)
{
	for (unsigned k = 0; k < 2; k++) {
		free(p->side[k].samples);
		p->side[k].samples = NULL;
	}
	p->n_blocks = 0;
}

static void fail_side(struct assay_pair *p, enum assay_side which, enum assay_status status, const char *reason)
{
	drop_samples(p);
	p->side[which].status = status;
	SET(p->side[which].reason, "%s", reason);
}

/* Add @p to the case in the store and to @c, which owns it then. */
static void add_pair(struct fixture *f, struct assay_store *s, int64_t case_id, struct assay_comparison_case *c,
		     struct assay_pair *p)
{
	assert_ok(f, assay_store_pair_add(s, case_id, p, &f->err));
	c->pairs = realloc(c->pairs, (c->n_pairs + 1) * sizeof(*p));
	assert_non_null(c->pairs);
	c->pairs[c->n_pairs++] = *p;
}

static void same_metrics(const struct assay_pair_side *a, const struct assay_pair_side *b)
{
	assert_int_equal(a->n_metrics, b->n_metrics);
	for (size_t i = 0; i < a->n_metrics; i++) {
		assert_string_equal(a->metrics[i].tag, b->metrics[i].tag);
		assert_string_equal(a->metrics[i].unit, b->metrics[i].unit);
		assert_int_equal(a->metrics[i].better, b->metrics[i].better);
		assert_memory_equal(&a->metrics[i].value, &b->metrics[i].value, sizeof(double));
		assert_string_equal(a->metrics[i].source, b->metrics[i].source);
		assert_int_equal(a->metrics[i].estimated, b->metrics[i].estimated);
	}
}

static void same_pair(const struct assay_pair *a, const struct assay_pair *b)
{
	assert_true(a->seed == b->seed && a->iterations == b->iterations && a->wall_ns == b->wall_ns);
	assert_true(a->extra_iterations[0] == b->extra_iterations[0]);
	assert_true(a->extra_iterations[1] == b->extra_iterations[1]);
	assert_int_equal(a->n_blocks, b->n_blocks);
	assert_int_equal(a->steady, b->steady);
	for (unsigned k = 0; k < 2; k++) {
		const struct assay_pair_side *x = &a->side[k], *y = &b->side[k];
		/* what does not apply, or is of a wrong output without bounds, comes back as -1 */
		double err = isfinite(y->max_rel_err) && y->max_rel_err >= 0 ? y->max_rel_err : -1;

		assert_int_equal(x->status, y->status);
		assert_string_equal(x->reason, y->reason);
		assert_string_equal(x->digest, y->digest);
		assert_string_equal(x->code_hash, y->code_hash);
		assert_memory_equal(&x->max_rel_err, &err, sizeof(err));
		if (b->n_blocks)
			assert_memory_equal(x->samples, y->samples, 2 * b->n_blocks * sizeof(*x->samples));
		else
			assert_null(x->samples);
		same_metrics(x, y);
		assert_same_counters(&x->counters, &y->counters);
	}
}

static void same_case(const struct assay_comparison_case *a, const struct assay_comparison_case *b)
{
	struct assay_result x = { .c = a->c }, y = { .c = b->c };

	assert_same_result(&x, &y);
	assert_int_equal(a->control, b->control);
	assert_memory_equal(&a->injected_frac, &b->injected_frac, sizeof(double));
	assert_int_equal(a->in_base, b->in_base);
	assert_int_equal(a->in_head, b->in_head);
	assert_string_equal(a->reason, b->reason);
	assert_string_equal(a->difference, b->difference);
	assert_int_equal(a->n_pairs, b->n_pairs);
	for (size_t i = 0; i < a->n_pairs; i++)
		same_pair(&a->pairs[i], &b->pairs[i]);
}

static void same_build(const struct assay_build *a, const struct assay_build *b)
{
	assert_string_equal(a->id, b->id);
	assert_string_equal(a->commit, b->commit);
	assert_int_equal(a->dirty, b->dirty);
	assert_string_equal(a->compiler, b->compiler);
	assert_string_equal(a->flags, b->flags);
	assert_string_equal(a->plugins, b->plugins);
}

static void same_machine(const struct assay_fingerprint *a, const struct assay_fingerprint *b)
{
	assert_string_equal(a->id, b->id);
	assert_string_equal(a->label, b->label);
	assert_int_equal(a->n_facts, b->n_facts);
	for (size_t i = 0; i < a->n_facts; i++) {
		assert_string_equal(a->facts[i].name, b->facts[i].name);
		assert_string_equal(a->facts[i].value, b->facts[i].value);
	}
}

static void same_comparison(const struct assay_comparison *a, const struct assay_comparison *b)
{
	assert_int_equal(a->id, b->id);
	assert_string_equal(a->base, b->base);
	assert_string_equal(a->head, b->head);
	assert_string_equal(a->suite, b->suite);
	assert_true(a->seed == b->seed && a->started_ns == b->started_ns && a->ended_ns == b->ended_ns);
	same_build(&a->build[0], &b->build[0]);
	same_build(&a->build[1], &b->build[1]);
	same_machine(&a->machine, &b->machine);
	assert_memory_equal(&a->alpha, &b->alpha, sizeof(double));
	assert_true(a->budget_ns == b->budget_ns);
	assert_int_equal(a->max_pairs, b->max_pairs);
	assert_int_equal(a->family, b->family);
	assert_string_equal(a->policy, b->policy);
	assert_int_equal(a->n_cases, b->n_cases);
	for (size_t i = 0; i < a->n_cases; i++)
		same_case(&a->cases[i], &b->cases[i]);
}

/* A number, or the number of rows, by bare SQLite. */
static int64_t ask(struct fixture *f, const char *sql)
{
	sqlite3_stmt *st = NULL;
	sqlite3 *db = NULL;
	int64_t v;

	assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return v;
}

/* Begin a comparison with one case; both ids. */
static int64_t begin(struct fixture *f, struct assay_store *s, const char *machine, int64_t *case_id)
{
	struct assay_comparison_case c;
	struct assay_comparison cmp;
	int64_t id;

	make_comparison(&cmp, machine);
	assert_ok(f, assay_store_comparison_begin(s, &cmp, &f->err));
	make_case(&c, 0, ASSAY_CONTROL_NONE);
	assert_ok(f, assay_store_comparison_case_add(s, cmp.id, &c, case_id, &f->err));
	id = cmp.id;
	assay_comparison_release(&cmp);
	return id;
}

/* ---- tests ---- */

enum { N_CASES = 8 };

/* Three measured cases, controls (one repeated), one that is new, one that is gone; pairs as rounds over the cases. */
static void fill(struct fixture *f, struct assay_store *s, struct assay_comparison *cmp)
{
	static const enum assay_control controls[N_CASES] = { ASSAY_CONTROL_NONE,   ASSAY_CONTROL_AA,
							      ASSAY_CONTROL_SLOWER, ASSAY_CONTROL_NONE,
							      ASSAY_CONTROL_NONE,   ASSAY_CONTROL_AA,
							      ASSAY_CONTROL_NONE,   ASSAY_CONTROL_NONE };
	static const unsigned numbers[N_CASES] = { 0, 0, 0, 1, 2, 0, 3, 4 };
	int64_t ids[N_CASES];

	cmp->cases = calloc(N_CASES, sizeof(*cmp->cases));
	assert_non_null(cmp->cases);
	cmp->n_cases = N_CASES;
	for (unsigned i = 0; i < N_CASES; i++) {
		make_case(&cmp->cases[i], numbers[i], controls[i]);
		if (numbers[i] == 3)
			cmp->cases[i].in_base = false;
		if (numbers[i] == 4) {
			cmp->cases[i].in_head = false;
			SET(cmp->cases[i].reason, "needs avx512_vnni");
		}
		assert_ok(f, assay_store_comparison_case_add(s, cmp->id, &cmp->cases[i], &ids[i], &f->err));
	}
	for (unsigned round = 0; round < N_PAIRS; round++)
		for (unsigned i = 0; i < N_CASES && numbers[i] < 3; i++) {
			struct assay_pair p;

			make_pair(&p, 10 * i + round);
			if (i == 3 && round == 1)
				fail_side(&p, ASSAY_HEAD, ASSAY_STATUS_CRASHED, "signal 11");
			if (i == 3 && round == 2)
				fail_side(&p, ASSAY_BASE, ASSAY_STATUS_TIMEOUT, "over 120 s");
			if (i == 4 && round == 3) {
				fail_side(&p, ASSAY_HEAD, ASSAY_STATUS_WRONG, "error of infinity");
				p.side[ASSAY_HEAD].max_rel_err = INFINITY;
			}
			if (i == 4 && round == 0) /* digests that differ: both ok, nothing timed */
				drop_samples(&p);
			add_pair(f, s, ids[i], &cmp->cases[i], &p);
		}
	SET(cmp->cases[4].difference, "outputs differ from byte 17 of 4096 on");
	assert_ok(f, assay_store_comparison_case_update(s, ids[4], &cmp->cases[4], &f->err));
}

static void test_round_trip(void **state)
{
	struct fixture *f = *state;
	struct assay_comparison cmp[2], got;
	char verdict[ASSAY_STORE_VERDICT_MAX];
	struct assay_store *s;
	int exit_code;

	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err));
	for (unsigned k = 0; k < 2; k++) {
		make_comparison(&cmp[k], "m1");
		assert_ok(f, assay_store_comparison_begin(s, &cmp[k], &f->err));
		assert_int_equal(cmp[k].id, 1 + k);
		fill(f, s, &cmp[k]);
	}
	cmp[0].ended_ns = cmp[0].started_ns + 5;
	assert_ok(f, assay_store_comparison_end(s, 1, cmp[0].ended_ns, "WRONG_RESULT", 3, &f->err));
	assay_store_close(s);

	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err));
	assert_ok(f, assay_store_comparison_load(s, 1, &got, verdict, &exit_code, &f->err));
	same_comparison(&got, &cmp[0]);
	assert_int_equal(got.cases[3].n_pairs, N_PAIRS);
	assert_string_equal(verdict, "WRONG_RESULT");
	assert_int_equal(exit_code, 3);
	assay_comparison_release(&got);
	/* the newest, which did not finish */
	assert_ok(f, assay_store_comparison_load(s, 0, &got, verdict, &exit_code, &f->err));
	same_comparison(&got, &cmp[1]);
	assert_string_equal(verdict, "");
	assert_int_equal(exit_code, -1);
	assay_comparison_release(&got);
	assert_ok(f, assay_store_comparison_load(s, 2, &got, NULL, NULL, &f->err));
	assay_comparison_release(&got);
	assay_store_close(s);

	/* stored once, referred to twice */
	assert_int_equal(ask(f, "SELECT count(*) FROM machine"), 1);
	assert_int_equal(ask(f, "SELECT count(*) FROM build"), 2);
	assert_int_equal(ask(f, "SELECT count(*) FROM bench_case"), 5);
	assay_comparison_release(&cmp[0]);
	assay_comparison_release(&cmp[1]);
}

static void test_nothing_stored(void **state)
{
	struct fixture *f = *state;
	struct assay_comparison_info *v = NULL;
	struct assay_comparison got = { .id = 77 };
	struct assay_store *s;
	size_t n = 1;

	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err));
	assert_error(f, assay_store_comparison_load(s, 0, &got, NULL, NULL, &f->err), ASSAY_ENOTFOUND,
		     "run 'assay compare' first");
	assert_error(f, assay_store_comparison_load(s, 3, &got, NULL, NULL, &f->err), ASSAY_ENOTFOUND,
		     "no comparison 3 in");
	assert_int_equal(got.id, 77);
	assert_ok(f, assay_store_comparisons(s, NULL, 0, &v, &n, &f->err));
	assert_int_equal(n, 0);
	assay_store_close(s);
}

/* Everything that cannot be true is refused as a whole. */
static void test_bad_pairs(void **state)
{
	enum fault {
		NO_SAMPLES,
		NAN_METRIC,
		INFINITE_METRIC,
		METRIC_TWICE,
		NAN_ERROR,
		INFINITE_ERROR,
		NO_REASON,
		BETTER_2,
		ITERATIONS,
		N_FAULTS,
	};
	static const struct {
		int code;
		const char *part;
	} want[N_FAULTS] = {
		[NO_SAMPLES] = { ASSAY_ESTORE, "blocks, but no samples of head" },
		[NAN_METRIC] = { ASSAY_ELIMIT, "metric 'hit_rate' is" },
		[INFINITE_METRIC] = { ASSAY_ELIMIT, "metric 'hit_rate' is inf on the side of head" },
		[METRIC_TWICE] = { ASSAY_ESTORE, "cannot store metric 'tokens_per_s'" },
		[NAN_ERROR] = { ASSAY_ELIMIT, "max_rel_err of head is" },
		[INFINITE_ERROR] = { ASSAY_ELIMIT, "max_rel_err of head is inf" },
		[NO_REASON] = { ASSAY_ESTORE, "other_than_ok_says_why" },
		[BETTER_2] = { ASSAY_ESTORE, "cannot store metric 'hit_rate'" },
		[ITERATIONS] = { ASSAY_ESTORE, "above the largest that can be stored" },
	};
	struct fixture *f = *state;
	struct assay_store *s;
	int64_t case_id;

	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err));
	begin(f, s, "m1", &case_id);
	for (unsigned i = 0; i < N_FAULTS; i++) {
		struct assay_pair_side *head;
		struct assay_pair p;

		make_pair(&p, 1);
		head = &p.side[ASSAY_HEAD];
		if (i == NO_SAMPLES) {
			free(head->samples);
			head->samples = NULL;
		}
		if (i == NAN_METRIC || i == INFINITE_METRIC)
			head->metrics[1].value = i == NAN_METRIC ? NAN : INFINITY;
		if (i == METRIC_TWICE)
			head->metrics[1] = head->metrics[0];
		if (i == NAN_ERROR || i == INFINITE_ERROR)
			head->max_rel_err = i == NAN_ERROR ? NAN : INFINITY;
		if (i == NO_REASON)
			head->status = ASSAY_STATUS_CRASHED;
		if (i == BETTER_2)
			head->metrics[1].better = 2;
		if (i == ITERATIONS)
			p.iterations = UINT64_MAX;
		assert_error(f, assay_store_pair_add(s, case_id, &p, &f->err), want[i].code, want[i].part);
		assay_pair_release(&p);
	}
	assay_store_close(s);
	assert_int_equal(ask(f, "SELECT (SELECT count(*) FROM pair) + (SELECT count(*) FROM pair_side)"
				" + (SELECT count(*) FROM pair_metric)"),
			 0);
}

static void test_bad_cases_and_comparisons(void **state)
{
	static const double alphas[] = { 0, 1, -0.01, NAN, INFINITY };
	struct fixture *f = *state;
	struct assay_comparison_case c;
	struct assay_comparison cmp;
	struct assay_store *s;
	int64_t case_id, id;

	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err));
	make_comparison(&cmp, "m1");
	for (size_t i = 0; i < sizeof(alphas) / sizeof(alphas[0]); i++) {
		cmp.alpha = alphas[i];
		assert_error(f, assay_store_comparison_begin(s, &cmp, &f->err), ASSAY_ELIMIT, "not between 0 and 1");
	}
	cmp.alpha = 0.01;
	cmp.family = 0;
	assert_error(f, assay_store_comparison_begin(s, &cmp, &f->err), ASSAY_ESTORE, "cannot store comparison with");
	assert_int_equal(cmp.id, 0);
	assay_comparison_release(&cmp);
	assert_int_equal(ask(f, "SELECT (SELECT count(*) FROM comparison) + (SELECT count(*) FROM machine)"), 0);

	id = begin(f, s, "m1", &case_id);
	make_case(&c, 0, ASSAY_CONTROL_NONE);
	assert_error(f, assay_store_comparison_case_add(s, id, &c, &case_id, &f->err), ASSAY_ESTORE,
		     "comparison 1 already has the case 'matmul.ternary/");
	make_case(&c, 5, ASSAY_CONTROL_NONE);
	assert_error(f, assay_store_comparison_case_add(s, 9, &c, &case_id, &f->err), ASSAY_ENOTFOUND,
		     "no comparison 9 in");
	make_case(&c, 5, ASSAY_CONTROL_SLOWER);
	c.injected_frac = 0;
	assert_error(f, assay_store_comparison_case_add(s, id, &c, &case_id, &f->err), ASSAY_ESTORE,
		     "slower_is_slower");
	c.injected_frac = NAN;
	assert_error(f, assay_store_comparison_case_add(s, id, &c, &case_id, &f->err), ASSAY_ELIMIT, "injected_frac");
	assert_error(f, assay_store_comparison_case_update(s, 99, &c, &f->err), ASSAY_ENOTFOUND, "no case 99");
	assay_store_close(s);
	assert_int_equal(ask(f, "SELECT count(*) FROM comparison_case"), 1);
	assert_int_equal(ask(f, "SELECT count(*) FROM bench_case"), 1);
}

static void test_an_ended_comparison_stays_as_it_is(void **state)
{
	struct fixture *f = *state;
	struct assay_comparison_case c;
	struct assay_store *s;
	int64_t case_id, id;
	struct assay_pair p;

	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err));
	id = begin(f, s, "m1", &case_id);
	make_pair(&p, 0);
	make_case(&c, 1, ASSAY_CONTROL_NONE);
	assert_error(f, assay_store_pair_add(s, 12, &p, &f->err), ASSAY_ENOTFOUND, "no case 12 of a comparison");
	assert_error(f, assay_store_comparison_end(s, id, 5, "FINE", 0, &f->err), ASSAY_ESTORE, "verdict_is_known");
	assert_error(f, assay_store_comparison_end(s, id, 5, NULL, 0, &f->err), ASSAY_ESTORE, "ended_has_verdict");
	assert_error(f, assay_store_comparison_end(s, 2, 5, "PASS", 0, &f->err), ASSAY_ENOTFOUND,
		     "no open comparison 2");
	for (unsigned v = 0; v < ASSAY_N_VERDICTS; v++) { /* all verdicts there are can be stored */
		assert_ok(f, assay_store_comparison_end(s, id, 5, assay_verdict_name(v), 1, &f->err));
		assert_error(f, assay_store_comparison_end(s, id, 6, "PASS", 0, &f->err), ASSAY_ENOTFOUND,
			     "no open comparison 1");
		assert_error(f, assay_store_pair_add(s, case_id, &p, &f->err), ASSAY_ESTORE,
			     "the comparison has ended");
		assert_error(f, assay_store_comparison_case_add(s, id, &c, &case_id, &f->err), ASSAY_ESTORE,
			     "the comparison has ended");
		assert_error(f, assay_store_comparison_case_update(s, case_id, &c, &f->err), ASSAY_ENOTFOUND,
			     "no case 1 of an open comparison");
		run_sql(f->db, "UPDATE comparison SET ended_ns = NULL, verdict = NULL, exit_code = NULL");
	}
	assay_pair_release(&p);
	assay_store_close(s);
}

static void test_comparisons_are_listed(void **state)
{
	struct fixture *f = *state;
	struct assay_comparison_info *v;
	struct assay_comparison_case c;
	struct assay_store *s;
	int64_t case_id;
	size_t n;

	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err));
	for (unsigned i = 0; i < 4; i++) {
		int64_t id = begin(f, s, i == 2 ? "m2" : "m1", &case_id);

		make_case(&c, 0, ASSAY_CONTROL_AA);
		for (unsigned k = 0; k < 2; k++) /* controls may be repeated */
			assert_ok(f, assay_store_comparison_case_add(s, id, &c, &case_id, &f->err));
		for (unsigned k = 0; k < i; k++) {
			struct assay_pair p;

			make_pair(&p, k);
			assert_ok(f, assay_store_pair_add(s, case_id, &p, &f->err));
			assay_pair_release(&p);
		}
		if (i < 3)
			assert_ok(f, assay_store_comparison_end(s, id, 1800000000000000000u + i, "INCONCLUSIVE", 6,
								&f->err));
	}
	assert_ok(f, assay_store_comparisons(s, NULL, 0, &v, &n, &f->err));
	assert_int_equal(n, 4);
	assert_int_equal(v[0].id, 4);
	assert_true(v[0].ended_ns == 0);
	assert_string_equal(v[0].verdict, "");
	assert_int_equal(v[0].exit_code, -1);
	assert_int_equal(v[1].id, 3);
	assert_string_equal(v[1].machine_id, "m2");
	assert_string_equal(v[1].machine_label, "label of m2");
	assert_string_equal(v[1].suite, "quick");
	assert_string_equal(v[1].head, "it's \"my\" branch; DROP TABLE comparison; --");
	assert_true(!strncmp(v[1].base, "main (", 6));
	assert_true(v[1].seed == 0xfedcba9876543210u && v[1].started_ns == 1700000000000000001u);
	assert_true(v[1].ended_ns == 1800000000000000002u);
	assert_string_equal(v[1].verdict, "INCONCLUSIVE");
	assert_int_equal(v[1].exit_code, 6);
	assert_int_equal(v[1].n_cases, 1);
	assert_int_equal(v[1].n_controls, 2);
	assert_int_equal(v[1].n_pairs, 2);
	assert_int_equal(v[3].id, 1);
	free(v);
	assert_ok(f, assay_store_comparisons(s, "m1", 2, &v, &n, &f->err));
	assert_int_equal(n, 2);
	assert_int_equal(v[0].id, 4);
	assert_int_equal(v[1].id, 2);
	free(v);
	assert_ok(f, assay_store_comparisons(s, "m3", 2, &v, &n, &f->err));
	assert_int_equal(n, 0);
	free(v);
	assay_store_close(s);
}

/* ---- certifications ---- */

static void make_certify(struct assay_certify_record *r, const char *machine, uint64_t false_alarms)
{
	struct assay_comparison cmp;

	memset(r, 0, sizeof(*r));
	make_comparison(&cmp, machine);
	r->machine = cmp.machine;
	assay_comparison_release(&cmp);
	r->started_ns = 1700000000000000001u;
	r->ended_ns = 1700000000000000002u;
	r->gates = 1000;
	r->false_alarms = false_alarms;
	r->settings = strdup("{\"alpha\":0.01}");
	r->result = strdup("{\"power\":[{\"slowdown\":0.01,\"detected\":99,\"of\":100}]}");
	assert_true(r->settings && r->result);
}

static void test_certifications(void **state)
{
	struct fixture *f = *state;
	struct assay_certify_record r, got;
	struct assay_store *s;

	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err));
	assert_error(f, assay_store_certify_latest(s, "m1", &got, &f->err), ASSAY_ENOTFOUND,
		     "no certification of this machine");
	for (unsigned i = 0; i < 4; i++) {
		make_certify(&r, i == 3 ? "m2" : "m1", i);
		assert_ok(f, assay_store_certify_add(s, &r, &f->err));
		assert_int_equal(r.id, 1 + i);
		assay_certify_record_release(&r);
	}
	make_certify(&r, "m3", 1001);
	assert_error(f, assay_store_certify_add(s, &r, &f->err), ASSAY_ESTORE, "cannot store certification of 'm3'");
	r.false_alarms = 0;
	free(r.result);
	r.result = NULL;
	assert_error(f, assay_store_certify_add(s, &r, &f->err), ASSAY_ESTORE, "cannot store certification of 'm3'");
	assert_int_equal(r.id, 0);
	assay_certify_record_release(&r);

	assert_ok(f, assay_store_certify_latest(s, "m1", &got, &f->err));
	make_certify(&r, "m1", 2);
	assert_int_equal(got.id, 3);
	same_machine(&got.machine, &r.machine);
	assert_true(got.started_ns == r.started_ns && got.ended_ns == r.ended_ns);
	assert_true(got.gates == 1000 && got.false_alarms == 2);
	assert_string_equal(got.settings, r.settings);
	assert_string_equal(got.result, r.result);
	assay_certify_record_release(&r);
	assay_certify_record_release(&got);

	assert_ok(f, assay_store_certify_latest(s, NULL, &got, &f->err));
	assert_string_equal(got.machine.id, "m2");
	assay_certify_record_release(&got);
	assert_error(f, assay_store_certify_latest(s, "m3", &got, &f->err), ASSAY_ENOTFOUND, "'assay certify'");
	assay_store_close(s);
}

/* ---- versions ---- */

static void test_version_1_is_brought_up_to_date(void **state)
{
	const struct assay_store_options first = { .migrations = assay_store_migrations, .n_migrations = 1 };
	struct fixture *f = *state;
	struct assay_comparison got;
	struct assay_store *s;
	int64_t case_id;
	size_t len;
	char *sql;

	assert_ok(f, assay_file_read("tests/fixtures/store/version_1.sql", &sql, &len, &f->err));
	run_sql(f->db, sql);
	free(sql);
	run_sql(f->db, "INSERT INTO baseline VALUES (1, 'main', 'quick', 'm1', 7); INSERT INTO baseline_run VALUES (1, 1)");
	assert_int_equal(ask(f, "PRAGMA user_version"), 1);
	assert_int_equal(ask(f, "SELECT count(*) FROM sqlite_schema WHERE name = 'comparison'"), 0);

	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err));
	assert_int_equal(ask(f, "PRAGMA user_version"), assay_store_n_migrations);
	begin(f, s, "m1", &case_id);
	assert_ok(f, assay_store_comparison_load(s, 0, &got, NULL, NULL, &f->err));
	/* what version 1 stored of the machine is not stored again */
	assert_string_equal(got.machine.facts[0].value, "It's a \"CPU\"; DROP TABLE run; --");
	assay_comparison_release(&got);
	assay_store_close(s);
	assert_int_equal(ask(f, "SELECT count(*) FROM machine"), 1);
	assert_int_equal(ask(f, "SELECT count(*) FROM bench_case"), 5);
	assert_int_equal(ask(f, "SELECT count(*) FROM baseline_run WHERE run = 1"), 1);
	/* what one word said is a rung and what it was read with */
	assert_int_equal(ask(f, "SELECT count(*) FROM result_counter WHERE source = 'os' AND how = 'getrusage'"), 5);
	assert_int_equal(ask(f, "SELECT count(*) FROM result_counter WHERE source = 'op' AND how = ''"), 5);
	assert_intact(f);

	/* a version 1 that knows nothing of comparisons leaves them alone */
	assert_error(f, assay_store_open_with(&s, f->db, ASSAY_STORE_WRITE, &first, &f->err), ASSAY_ESTORE,
		     "has version " VERSION_TEXT ", this assay knows up to 1");
}

static void test_next_version_is_refused(void **state)
{
	static const enum assay_store_mode modes[] = { ASSAY_STORE_READ, ASSAY_STORE_WRITE };
	struct fixture *f = *state;
	char *before, *after;
	size_t n, m;

	make_database(f);
	run_sql(f->db, "PRAGMA user_version = " NEXT_VERSION_TEXT);
	assert_ok(f, assay_file_read(f->db, &before, &n, &f->err));
	for (unsigned i = 0; i < 2; i++) {
		struct assay_store *s = NULL;

		assert_error(f, assay_store_open(&s, f->db, modes[i], &f->err), ASSAY_ESTORE,
			     "has version " NEXT_VERSION_TEXT ", this assay knows up to " VERSION_TEXT);
		assert_null(s);
		assert_ok(f, assay_file_read(f->db, &after, &m, &f->err));
		assert_int_equal(n, m);
		assert_memory_equal(before, after, n);
		free(after);
	}
	free(before);
}

/* ---- kills, several writers, damage ---- */

static void die_at(void *arg, int op, const char *db, const char *table, sqlite3_int64 row)
{
	(void)op;
	(void)db;
	(void)row;
	if (!strcmp(table, arg))
		raise(SIGKILL);
}

static int die_at_commit(void *arg)
{
	(void)arg;
	raise(SIGKILL);
	return 0;
}

/* Begins, adds 3 pairs, and is killed in the fourth. */
static void be_killed(struct fixture *f, const char *place)
{
	struct assay_store *s;
	struct assay_pair p;
	int64_t case_id;

	if (assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err))
		_exit(1);
	begin(f, s, "m1", &case_id);
	for (unsigned i = 0; i < 4; i++) {
		if (i == 3 && strcmp(place, "commit"))
			sqlite3_update_hook(s->db, die_at, (void *)place);
		else if (i == 3)
			sqlite3_commit_hook(s->db, die_at_commit, NULL);
		make_pair(&p, i);
		if (assay_store_pair_add(s, case_id, &p, &f->err))
			_exit(1);
		assay_pair_release(&p);
	}
	_exit(2);
}

/* Killed at any statement of a pair's transaction: the pairs before it are there, whole, and it is not. */
static void test_a_kill_loses_the_pair_in_flight_only(void **state)
{
	static const char *const places[] = { "pair", "pair_side", "commit" };
	struct fixture *f = *state;
	struct assay_store *s;

	make_database(f);
	for (unsigned k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
		struct assay_comparison got;
		struct assay_pair want;
		int status, exit_code;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			be_killed(f, places[k]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

		assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err));
		assert_ok(f, assay_store_comparison_load(s, 0, &got, NULL, &exit_code, &f->err));
		assert_int_equal(got.id, 1 + k);
		assert_true(got.ended_ns == 0);
		assert_int_equal(exit_code, -1);
		assert_int_equal(got.cases[0].n_pairs, 3);
		for (unsigned i = 0; i < 3; i++) {
			make_pair(&want, i);
			same_pair(&got.cases[0].pairs[i], &want);
			assay_pair_release(&want);
		}
		assay_comparison_release(&got);
		assay_store_close(s);
		/* and another program can go on with it */
		assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err));
		make_pair(&want, 3);
		assert_ok(f, assay_store_pair_add(s, 1 + k, &want, &f->err));
		assay_pair_release(&want);
		assay_store_close(s);
	}
	assert_int_equal(ask(f, "SELECT count(*) FROM pair"), 12);
	assert_int_equal(ask(f, "SELECT count(*) FROM pair_side"), 24);
	assert_int_equal(ask(f, "SELECT count(*) FROM pair_metric"), 36);
	assert_intact(f);
}

#define PER_WRITER 40

static void be_writer(struct fixture *f, const char *machine)
{
	struct assay_store *s;
	struct assay_pair p;
	int64_t case_id, id;

	if (assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err))
		_exit(1);
	id = begin(f, s, machine, &case_id);
	for (unsigned i = 0; i < PER_WRITER; i++) {
		make_pair(&p, i);
		if (assay_store_pair_add(s, case_id, &p, &f->err))
			_exit(1);
		assay_pair_release(&p);
	}
	if (assay_store_comparison_end(s, id, 99, "PASS", 0, &f->err))
		_exit(1);
	assay_store_close(s);
	_exit(0);
}

static void test_two_programs_write_at_once(void **state)
{
	static const char *const machines[] = { "m1", "m2" };
	struct fixture *f = *state;
	struct assay_store *s;
	pid_t pids[2];
	int status;

	for (unsigned k = 0; k < 2; k++) {
		pids[k] = fork();
		assert_true(pids[k] >= 0);
		if (!pids[k])
			be_writer(f, machines[k]);
	}
	for (unsigned k = 0; k < 2; k++) {
		assert_int_equal(waitpid(pids[k], &status, 0), pids[k]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err));
	for (int64_t id = 1; id <= 2; id++) {
		struct assay_comparison got;

		assert_ok(f, assay_store_comparison_load(s, id, &got, NULL, NULL, &f->err));
		assert_true(got.ended_ns == 99);
		assert_int_equal(got.cases[0].n_pairs, PER_WRITER);
		for (unsigned i = 0; i < PER_WRITER; i++) {
			struct assay_pair want;

			make_pair(&want, i);
			same_pair(&got.cases[0].pairs[i], &want);
			assay_pair_release(&want);
		}
		assay_comparison_release(&got);
	}
	assay_store_close(s);
	assert_int_equal(ask(f, "SELECT count(DISTINCT machine) FROM comparison"), 2);
}

/* Rows that contradict each other are said to be damaged: a verdict must not be recomputed from them. */
static void test_damaged_rows(void **state)
{
	static const struct {
		const char *sql;
		const char *part;
	} cases[] = {
		{ "UPDATE pair SET n_blocks = n_blocks + 1", "a row of 'pair_side' in comparison 1 makes no sense" },
		{ "UPDATE pair_side SET samples = NULL WHERE side = 'head'", "a row of 'pair_side'" },
		{ "DELETE FROM pair_side WHERE side = 'base'", "a row of 'pair' in" },
		{ "UPDATE pair_side SET samples = substr(samples, 1, 20)",
		  "pair 1 of 'matmul.ternary/avx2/m=0,level=dram/t=2/cold' in database" },
		{ "UPDATE comparison SET base = printf('%.300c', 'x')", "a row of 'comparison'" },
		{ "PRAGMA ignore_check_constraints = ON; UPDATE comparison_case SET control = 'odd'",
		  "a row of 'comparison_case'" },
		{ "PRAGMA ignore_check_constraints = ON; UPDATE pair_side SET side = 'left' WHERE side = 'base'",
		  "a row of 'pair_side'" },
		{ "PRAGMA ignore_check_constraints = ON; UPDATE pair_side SET status = 'fine'",
		  "a row of 'pair_side'" },
		{ "UPDATE pair_metric SET unit = printf('%.99c', 'x')", "a row of 'pair_metric'" },
		{ "DROP TABLE pair_metric", "no such table" },
		{ "UPDATE pair_counter SET name = printf('%.99c', 'x')", "a row of 'pair_counter'" },
		{ "UPDATE pair_unavailable SET reason = printf('%.999c', 'x')", "a row of 'pair_unavailable'" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct assay_comparison got = { .id = 77 };
		struct assay_store *s;
		struct assay_pair p;
		int64_t case_id;

		unlink(f->db);
		assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_WRITE, &f->err));
		begin(f, s, "m1", &case_id);
		make_pair(&p, 0);
		assert_ok(f, assay_store_pair_add(s, case_id, &p, &f->err));
		assay_pair_release(&p);
		assay_store_close(s);
		run_sql(f->db, cases[i].sql);
		assert_ok(f, assay_store_open(&s, f->db, ASSAY_STORE_READ, &f->err));
		assert_error(f, assay_store_comparison_load(s, 0, &got, NULL, NULL, &f->err), ASSAY_ESTORE,
			     cases[i].part);
		assert_int_equal(got.id, 77);
		assay_store_close(s);
	}
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),
		TEST(test_nothing_stored),
		TEST(test_bad_pairs),
		TEST(test_bad_cases_and_comparisons),
		TEST(test_an_ended_comparison_stays_as_it_is),
		TEST(test_comparisons_are_listed),
		TEST(test_certifications),
		TEST(test_version_1_is_brought_up_to_date),
		TEST(test_next_version_is_refused),
		TEST(test_a_kill_loses_the_pair_in_flight_only),
		TEST(test_two_programs_write_at_once),
		TEST(test_damaged_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
