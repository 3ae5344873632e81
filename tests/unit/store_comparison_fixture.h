/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons with a value in every member, for the tests of the store. */
#ifndef STORE_COMPARISON_FIXTURE_H
#define STORE_COMPARISON_FIXTURE_H

#include "store_fixture.h"

#include <math.h>

#include "store/comparison.h"

#define N_PAIRS 4

static inline void set_text(char *to, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static inline void set_text(char *to, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	assert_true(vsnprintf(to, size, fmt, ap) < (int)size);
	va_end(ap);
}
#define SET(to, ...) set_text(to, sizeof(to), __VA_ARGS__)

static inline void make_build(struct assay_build *b, unsigned i)
{
	memset(b, 0, sizeof(*b));
	SET(b->commit, "%040u", i);
	b->dirty = i & 1;
	SET(b->compiler, "gcc 12.%u", i);
	SET(b->flags, "-O2 -g -DX='%u'", i);
	SET(b->plugins, "%032u", 100 + i);
	SET(b->id, "%032u", 200 + i);
}

static inline void make_comparison(struct assay_comparison *cmp, const char *machine)
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
	cmp->rule = 3;
	cmp->policy = strdup("margin = \"0.5%\"\n# \xc2\xb5\nalpha = 0.01\n");
	assert_non_null(cmp->policy);
	strcpy(cmp->fitness, "comparisons can detect 1 %");
	strcpy(cmp->places, " --plugin op.so --no-default-plugins");
}

static inline void make_case(struct assay_comparison_case *c, unsigned i, enum assay_control control)
{
	struct assay_result r;

	make_result(&r, i, 0);
	r.c.reference = false; /* that a variant is the reference is known of runs */
	memset(c, 0, sizeof(*c));
	c->c = r.c;
	assay_result_release(&r);
	c->control = control;
	strcpy(c->base_variant, control == ASSAY_CONTROL_NONE ? "other" : "");
	strcpy(c->judged, control == ASSAY_CONTROL_NONE ? "speed,size" : "");
	c->injected_frac = control == ASSAY_CONTROL_SLOWER ? 0.02 : 0;
	c->in_base = c->in_head = true;
}

/* Samples of extremes, and of small steps as clocks give them. */
static inline struct assay_sample *make_samples(size_t n, unsigned salt)
{
	struct assay_sample *v = calloc(n, sizeof(*v));

	assert_non_null(v);
	for (size_t k = 0; k < n; k++) {
		v[k] = (struct assay_sample){ .iterations = 40, .ns = 90000 + salt + (k * 7919) % 501 };
		if (k % 13 == 5)
			v[k] = (struct assay_sample){ salt + k, UINT64_MAX - k, UINT32_MAX, (uint32_t)k,
						      3,        UINT32_MAX,     k,          UINT64_MAX - salt };
	}
	return v;
}

/* Pair number @i, both sides ok. */
static inline void make_pair(struct assay_pair *p, unsigned i)
{
	memset(p, 0, sizeof(*p));
	p->seed = 0x8000000000000000u + i;
	p->iterations = 40 + i;
	p->extra_iterations[ASSAY_HEAD] = i;
	p->n_blocks = 5 + i % 7;
	p->steady = i & 1;
	p->wall_ns = 1234567890123u + i;
	for (unsigned k = 0; k < 2; k++) {
		struct assay_result *side = &p->side[k];

		SET(side->digest, "%032u", i);
		SET(side->code_hash, "%032u", 10 * i + k);
		side->max_rel_err = k ? 1e-7 / 3 : -1;
		side->deviation.edges = 2 * k;
		SET(side->deviation.reason, "element %u of 'q'", k * i);
		side->samples = make_samples(2 * p->n_blocks, 1000 * i + k);
		side->n_metrics = 1 + k;
		side->metrics = calloc(side->n_metrics, sizeof(*side->metrics));
		assert_non_null(side->metrics);
		side->metrics[0] = (struct assay_metric){ .tag = "tokens_per_s",
							  .unit = "1/s",
							  .better = 1,
							  .value = 100.0 / (3 + i),
							  .source = "sde",
							  .estimated = i == 1 };
		if (k)
			side->metrics[1] = (struct assay_metric){ .tag = "hit_rate", .unit = "1", .better = -1 };
		if (k)
			make_counters(&side->counters);
		side->raw_metrics = strdup("compress\t7e8\tsize\t1234\t\ncompress\t7.1e8\tsize\t1234\t\n");
	}
}

static inline void drop_samples(struct assay_pair *p)
{
	for (unsigned k = 0; k < 2; k++) {
		free(p->side[k].samples);
		p->side[k].samples = NULL;
	}
	p->n_blocks = 0;
}

static inline void fail_side(struct assay_pair *p, enum assay_side which, enum assay_status status, const char *reason)
{
	drop_samples(p);
	p->side[which].status = status;
	SET(p->side[which].reason, "%s", reason);
	free(p->side[which].log);
	p->side[which].log = strdup("words before the end\n");
}

/* Add @p to the case in the store and to @c, which owns it then. */
static inline void add_pair(struct fixture *f, struct assay_store *s, int64_t case_id, struct assay_comparison_case *c,
			    struct assay_pair *p)
{
	assert_ok(f, assay_store_pair_add(s, case_id, p, &f->err));
	c->pairs = realloc(c->pairs, (c->n_pairs + 1) * sizeof(*p));
	assert_non_null(c->pairs);
	c->pairs[c->n_pairs++] = *p;
}

static inline void same_metrics(const struct assay_result *a, const struct assay_result *b)
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

static inline void same_pair(const struct assay_pair *a, const struct assay_pair *b)
{
	assert_true(a->seed == b->seed && a->iterations == b->iterations && a->wall_ns == b->wall_ns);
	assert_true(a->extra_iterations[0] == b->extra_iterations[0]);
	assert_true(a->extra_iterations[1] == b->extra_iterations[1]);
	assert_int_equal(a->n_blocks, b->n_blocks);
	assert_int_equal(a->steady, b->steady);
	for (unsigned k = 0; k < 2; k++) {
		const struct assay_result *x = &a->side[k], *y = &b->side[k];
		/* what does not apply, or is of a wrong output without bounds, comes back as -1 */
		double err = isfinite(y->max_rel_err) && y->max_rel_err >= 0 ? y->max_rel_err : -1;

		assert_int_equal(x->status, y->status);
		assert_string_equal(x->reason, y->reason);
		assert_same_log(x->log, y->log);
		assert_same_log(x->raw_metrics, y->raw_metrics);
		assert_string_equal(x->digest, y->digest);
		assert_string_equal(x->code_hash, y->code_hash);
		assert_memory_equal(&x->max_rel_err, &err, sizeof(err));
		assert_int_equal(x->deviation.edges, y->deviation.edges);
		assert_string_equal(x->deviation.reason, y->deviation.reason);
		if (b->n_blocks)
			assert_memory_equal(x->samples, y->samples, 2 * b->n_blocks * sizeof(*x->samples));
		else
			assert_null(x->samples);
		same_metrics(x, y);
		assert_same_counters(&x->counters, &y->counters);
	}
}

static inline void same_case(const struct assay_comparison_case *a, const struct assay_comparison_case *b)
{
	struct assay_result x = { .c = a->c }, y = { .c = b->c };

	assert_same_result(&x, &y);
	assert_int_equal(a->control, b->control);
	assert_string_equal(a->base_variant, b->base_variant);
	assert_string_equal(a->judged, b->judged);
	assert_memory_equal(&a->injected_frac, &b->injected_frac, sizeof(double));
	assert_int_equal(a->in_base, b->in_base);
	assert_int_equal(a->in_head, b->in_head);
	assert_string_equal(a->reason, b->reason);
	assert_string_equal(a->difference, b->difference);
	assert_int_equal(a->n_pairs, b->n_pairs);
	for (size_t i = 0; i < a->n_pairs; i++)
		same_pair(&a->pairs[i], &b->pairs[i]);
}

static inline void same_build(const struct assay_build *a, const struct assay_build *b)
{
	assert_string_equal(a->id, b->id);
	assert_string_equal(a->commit, b->commit);
	assert_int_equal(a->dirty, b->dirty);
	assert_string_equal(a->compiler, b->compiler);
	assert_string_equal(a->flags, b->flags);
	assert_string_equal(a->plugins, b->plugins);
}

static inline void same_machine(const struct assay_fingerprint *a, const struct assay_fingerprint *b)
{
	assert_string_equal(a->id, b->id);
	assert_string_equal(a->label, b->label);
	assert_int_equal(a->n_facts, b->n_facts);
	for (size_t i = 0; i < a->n_facts; i++) {
		assert_string_equal(a->facts[i].name, b->facts[i].name);
		assert_string_equal(a->facts[i].value, b->facts[i].value);
	}
}

static inline void same_comparison(const struct assay_comparison *a, const struct assay_comparison *b)
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
	assert_string_equal(a->fitness, b->fitness);
	assert_string_equal(a->places, b->places);
	assert_int_equal(a->rule, b->rule);
	assert_int_equal(a->n_cases, b->n_cases);
	for (size_t i = 0; i < a->n_cases; i++)
		same_case(&a->cases[i], &b->cases[i]);
}

/* A comparison with a case and @n controls that repeat it. */
static inline void make_cases(struct assay_comparison *cmp, const char *machine, size_t n)
{
	make_comparison(cmp, machine);
	cmp->n_cases = 1 + n;
	cmp->cases = calloc(1 + n, sizeof(*cmp->cases));
	assert_non_null(cmp->cases);
	for (size_t i = 0; i <= n; i++)
		make_case(&cmp->cases[i], 0, i ? ASSAY_CONTROL_AA : ASSAY_CONTROL_NONE);
}

/* Begin a comparison with one case; both ids. */
static inline int64_t begin(struct fixture *f, struct assay_store *s, const char *machine, int64_t *case_id)
{
	struct assay_comparison cmp;
	int64_t id;

	make_cases(&cmp, machine, 0);
	assert_ok(f, assay_store_comparison_begin_with(s, &cmp, case_id, &f->err));
	id = cmp.id;
	assay_comparison_release(&cmp);
	return id;
}

#endif
