/* SPDX-License-Identifier: Apache-2.0 */
/* Crosses what a bench lists. What cannot run here is planned with its reason: only the manifest may forgive it. */
#include "plan/expand.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_BUDGET_NS  1000000000ull
#define DEFAULT_TIMEOUT_NS 120000000000ull
#define MAX_DOUBLINGS      33 /* of an unsigned, and all */
#define MAX_CASES          100000
#define MAX_COMBINATIONS   1000000
#define MAX_KNOWN          256

/* A number of threads, from `all`, or between 1 and all from `doubling`. */
struct thread_count {
	unsigned n;
	bool all, between;
};

/* A bench with its fields understood. */
struct expansion {
	const struct assay_bench *bench;
	const struct assay_plan_options *o;
	const struct assay_catalog *cat;
	const struct assay_catalog_op *op;
	const struct assay_catalog_variant **variants;
	size_t n_variants;
	struct assay_plan_shape *shapes;
	size_t n_shapes;
	struct thread_count *threads;
	size_t n_threads;
	enum assay_cache cache[2];
	size_t n_cache;
	uint64_t budget_ns, timeout_ns, memory_bytes;
	bool own_threads;
	char counters[ASSAY_GROUPS_MAX]; /* as in struct assay_case */
};

/* ---- the list --------------------------------------------------------------------------------------------------- */

static bool same_limits(const struct assay_case *a, const struct assay_case *b)
{
	return a->budget_ns == b->budget_ns && a->timeout_ns == b->timeout_ns && a->memory_bytes == b->memory_bytes;
}

int assay_planned_add(struct assay_planned_list *l, const struct assay_planned *p, struct assay_err *err)
{
	bool found = false;
	size_t at;
	int rc;

	if (l->n == MAX_CASES && !assay_name_index_find(&l->keys, p->c.key, &at))
		return assay_conf_fail(err, p->bench->path, p->bench->line, "bench '%s' makes more than %d cases",
				       p->bench->name, MAX_CASES);
	rc = assay_name_index_put(&l->keys, p->c.key, l->n, &at, &found, err);
	if (rc)
		return rc;
	if (found) {
		/* Bench p makes a case that stands already. */
		if (!same_limits(&l->v[at].c, &p->c))
			return assay_conf_fail(err, p->bench->path, p->bench->line,
					       "bench '%s' plans case '%s' with other limits than bench '%s' in %s:%u, "
					       "give both the same budget, timeout and memory",
					       p->bench->name, p->c.key, l->v[at].bench->name, l->v[at].bench->path,
					       l->v[at].bench->line);
		l->v[at].c.all_threads |= p->c.all_threads;
		l->v[at].c.between_threads &= p->c.between_threads;
		return 0;
	}
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		struct assay_planned *v = realloc(l->v, cap * sizeof(*v));

		if (!v)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the cases of bench '%s'",
					     p->bench->name);
		l->v = v;
		l->cap = cap;
	}
	l->v[l->n++] = *p;
	return 0;
}

void assay_planned_release(struct assay_planned_list *l)
{
	free(l->v);
	assay_name_index_release(&l->keys);
	memset(l, 0, sizeof(*l));
}

/* ---- reading the fields ----------------------------------------------------------------------------------------- */

static int fail_at(const struct assay_conf_entry *e, size_t i, struct assay_err *err)
{
	char text[sizeof(err->text)];

	if (!err)
		return ASSAY_EUSAGE;
	snprintf(text, sizeof(text), "%s", err->text);
	return assay_conf_fail(err, e->path, e->values[i].line, "%s", text);
}

static int read_op(struct expansion *x, struct assay_err *err)
{
	const struct assay_conf_entry *e = x->bench->field[ASSAY_BENCH_OP];
	const char *names[MAX_KNOWN];
	char hint[256];
	size_t n;

	x->op = assay_catalog_op(x->cat, e ? e->values[0].text : x->bench->name);
	if (x->op)
		return 0;
	if (!e)
		return assay_err_set(err, ASSAY_EINTERNAL, "the program of bench '%s' is not in the catalog",
				     x->bench->name);
	for (n = 0; n < x->cat->n_ops && n < MAX_KNOWN; n++)
		names[n] = x->cat->ops[n].name;
	return assay_conf_fail(err, e->path, e->values[0].line, "unknown op '%s'%s", e->values[0].text,
			       assay_conf_hint(e->values[0].text, names, n, hint, sizeof(hint)));
}

static int no_variant(const struct expansion *x, const struct assay_conf_entry *e, size_t g, struct assay_err *err)
{
	const char *glob = e->values[g].text;
	const char *names[MAX_KNOWN];
	char hint[256];
	size_t n = 0;

	for (size_t i = 0; i < x->cat->n_variants && n < MAX_KNOWN; i++)
		if (!strcmp(x->cat->variants[i].op, x->op->name))
			names[n++] = x->cat->variants[i].name;
	return assay_conf_fail(err, e->path, e->values[g].line, "op '%s' has no variant '%s'%s", x->op->name, glob,
			       assay_conf_hint(glob, names, n, hint, sizeof(hint)));
}

static int read_variants(struct expansion *x, struct assay_err *err)
{
	static const char *const any = "*";
	const struct assay_conf_entry *e = x->bench->field[ASSAY_BENCH_VARIANTS];
	bool *wanted = calloc(x->cat->n_variants + 1, sizeof(*wanted));
	int rc = 0;

	x->variants = calloc(x->cat->n_variants + 1, sizeof(*x->variants));
	if (!wanted || !x->variants) {
		free(wanted);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the variants of '%s'", x->op->name);
	}
	for (size_t g = 0; !rc && g < (e ? e->n : 1); g++) {
		const char *glob = e ? e->values[g].text : any;
		bool found = false;

		for (size_t i = 0; i < x->cat->n_variants; i++) {
			const struct assay_catalog_variant *v = &x->cat->variants[i];

			if (!strcmp(v->op, x->op->name) && !fnmatch(glob, v->name, 0))
				wanted[i] = found = true;
		}
		if (!found && e) /* a build without GPUs lacks all variants of what only they do */
			rc = no_variant(x, e, g, err);
	}
	for (size_t i = 0; i < x->cat->n_variants; i++)
		if (wanted[i])
			x->variants[x->n_variants++] = &x->cat->variants[i];
	free(wanted);
	return rc;
}

bool assay_plan_threads_parse(const char *word, unsigned *out)
{
	uint64_t n = 0;

	if (!strcmp(word, "all"))
		*out = ASSAY_THREADS_ALL;
	else if (!strcmp(word, "doubling"))
		*out = ASSAY_THREADS_DOUBLING;
	else if (assay_parse_u64(word, "threads", 1, ASSAY_MAX_THREADS, &n, NULL))
		return false;
	else
		*out = (unsigned)n;
	return true;
}

static void add_threads(struct expansion *x, unsigned count)
{
	unsigned all = x->o->all_threads;

	if (count == ASSAY_THREADS_DOUBLING) {
		for (uint64_t n = 1; n < all; n *= 2)
			x->threads[x->n_threads++] = (struct thread_count){ .n = (unsigned)n, .between = n > 1 };
		count = ASSAY_THREADS_ALL;
	}
	if (count == ASSAY_THREADS_ALL)
		x->threads[x->n_threads++] = (struct thread_count){ .n = all, .all = true };
	else
		x->threads[x->n_threads++] = (struct thread_count){ .n = count };
}

static int read_threads(struct expansion *x, struct assay_err *err)
{
	const struct assay_conf_entry *e = x->bench->field[ASSAY_BENCH_THREADS];
	size_t n = x->o->n_threads ? x->o->n_threads : e ? e->n : 1;

	x->threads = calloc(n * MAX_DOUBLINGS, sizeof(*x->threads));
	if (!x->threads)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the threads of bench '%s'", x->bench->name);
	for (size_t i = 0; i < n; i++) {
		/* a program has as many threads as it likes, and on fewer cores another speed */
		unsigned count = x->op->program ? ASSAY_THREADS_ALL : 1;

		if (x->o->n_threads)
			count = x->o->threads[i];
		else if (e && !assay_plan_threads_parse(e->values[i].text, &count))
			return assay_conf_fail(err, e->path, e->values[i].line,
					       "threads is '%s', expected " ASSAY_THREADS_EXPECTED, e->values[i].text);
		add_threads(x, count);
	}
	return 0;
}

static int read_cache(struct expansion *x, struct assay_err *err)
{
	const struct assay_conf_entry *e = x->bench->field[ASSAY_BENCH_CACHE];

	x->cache[0] = x->op->program ? ASSAY_CACHE_NONE : ASSAY_CACHE_WARM;
	x->n_cache = 1;
	if (!e || x->op->program)
		return 0;
	x->n_cache = 0;
	for (size_t i = 0; i < e->n; i++) {
		bool cold = !strcmp(e->values[i].text, "cold");

		if (!cold && strcmp(e->values[i].text, "warm"))
			return assay_conf_fail(err, e->path, e->values[i].line,
					       "cache is '%s', expected 'warm' or 'cold'", e->values[i].text);
		if (x->n_cache == 2 || (x->n_cache && x->cache[0] == (cold ? ASSAY_CACHE_COLD : ASSAY_CACHE_WARM)))
			return assay_conf_fail(err, e->path, e->values[i].line, "cache names '%s' twice",
					       e->values[i].text);
		x->cache[x->n_cache++] = cold ? ASSAY_CACHE_COLD : ASSAY_CACHE_WARM;
	}
	return 0;
}

static int read_duration(const struct assay_conf_entry *e, const char *what, uint64_t otherwise, uint64_t *out,
			 struct assay_err *err)
{
	*out = otherwise;
	if (!e)
		return 0;
	if (assay_parse_duration_ns(e->values[0].text, what, out, err))
		return fail_at(e, 0, err);
	return 0;
}

static int read_limits(struct expansion *x, struct assay_err *err)
{
	const struct assay_conf_entry *budget = x->bench->field[ASSAY_BENCH_BUDGET];
	const struct assay_conf_entry *memory = x->bench->field[ASSAY_BENCH_MEMORY];
	int rc;

	rc = read_duration(budget, "budget", DEFAULT_BUDGET_NS, &x->budget_ns, err);
	if (!rc)
		rc = read_duration(x->bench->field[ASSAY_BENCH_TIMEOUT], "timeout", DEFAULT_TIMEOUT_NS, &x->timeout_ns,
				   err);
	/* that of a program ends a process, not the case */
	if (!rc && !x->op->program && x->budget_ns >= x->timeout_ns) {
		const struct assay_conf_entry *e = budget ? budget : x->bench->field[ASSAY_BENCH_TIMEOUT];

		rc = assay_conf_fail(
			err, e->path, e->values[0].line,
			"the budget of bench '%s', %g s, does not fit its timeout, %g s, expected budget < "
			"timeout",
			x->bench->name, (double)x->budget_ns * 1e-9, (double)x->timeout_ns * 1e-9);
	}
	if (!rc && memory && assay_parse_bytes(memory->values[0].text, "memory", &x->memory_bytes, err))
		rc = fail_at(memory, 0, err);
	if (!rc && memory && !x->memory_bytes)
		rc = assay_conf_fail(err, memory->path, memory->values[0].line,
				     "memory is '%s', expected a size above 0, such as 512MiB", memory->values[0].text);
	if (x->o->memory_bytes)
		x->memory_bytes = x->o->memory_bytes;
	if (x->o->budget_ns) {
		/* A longer budget asked for by hand must not run into a timeout meant for a shorter one. */
		if (x->o->budget_ns > x->budget_ns && !x->op->program)
			x->timeout_ns += x->o->budget_ns - x->budget_ns;
		x->budget_ns = x->o->budget_ns;
	}
	return rc;
}

static int read_own_threads(struct expansion *x, struct assay_err *err)
{
	const struct assay_conf_entry *e = x->bench->field[ASSAY_BENCH_OWN_THREADS];

	x->own_threads = e && !strcmp(e->values[0].text, "yes");
	if (e && !x->own_threads && strcmp(e->values[0].text, "no"))
		return assay_conf_fail(err, e->path, e->values[0].line, "own_threads is '%s', expected 'yes' or 'no'",
				       e->values[0].text);
	return 0;
}

static int read_counters(struct expansion *x, struct assay_err *err)
{
	const struct assay_conf_entry *e = x->bench->field[ASSAY_BENCH_COUNTERS];
	const struct assay_strings *known = x->o->counter_groups;
	char hint[256];
	size_t at = 0;

	for (size_t i = 0; e && i < e->n; i++) {
		const char *name = e->values[i].text;
		int n = snprintf(x->counters + at, sizeof(x->counters) - at, "%s%s", i ? "," : "", name);

		if (known && !assay_strings_has(known, name))
			return assay_conf_fail(
				err, e->path, e->values[i].line, "unknown group of counters '%s'%s", name,
				assay_conf_hint(name, (const char *const *)known->v, known->n, hint, sizeof(hint)));
		if (n < 0 || (size_t)n >= sizeof(x->counters) - at)
			return assay_conf_fail(err, e->path, e->values[i].line, "counters names too many groups");
		at += (size_t)n;
	}
	return 0;
}

/* ---- crossing --------------------------------------------------------------------------------------------------- */

static bool has_one_thread(const struct expansion *x)
{
	for (size_t i = 0; i < x->n_threads; i++)
		if (x->threads[i].n == 1)
			return true;
	return false;
}

/* A case but for its variant. */
struct point {
	const struct assay_plan_shape *shape;
	const struct thread_count *threads;
	enum assay_cache cache;
};

static int add_named(const struct expansion *x, struct assay_planned *p, struct assay_planned_list *l,
		     struct assay_err *err)
{
	char text[512];

	if (!assay_case_make_key(&p->c, err))
		return assay_planned_add(l, p, err);
	snprintf(text, sizeof(text), "%s", err ? err->text : "");
	return assay_conf_fail(err, x->bench->path, x->bench->line, "%s", text);
}

/* A case for each benchmark of the program of @p; one for all of them where it does not tell which there are. */
static int add_benchmarks(const struct expansion *x, struct assay_planned *p, struct assay_planned_list *l,
			  struct assay_err *err)
{
	const struct assay_case all = p->c;
	struct assay_case *found = NULL;
	size_t n = 0;
	int rc = x->o->benchmarks ? x->o->benchmarks(x->o->benchmarks_arg, x->op, &all, &found, &n, err) : 0;

	for (size_t i = 0; i < n && !rc; i++) {
		p->c = all;
		p->c.benchmark = found[i].benchmark;
		memcpy(p->c.axes, found[i].axes, sizeof(p->c.axes));
		p->c.n_axes = found[i].n_axes;
		for (unsigned k = 0; k < all.n_axes && p->c.n_axes < ASSAY_MAX_AXES; k++)
			p->c.axes[p->c.n_axes++] = all.axes[k];
		if (found[i].n_axes + all.n_axes > ASSAY_MAX_AXES)
			rc = assay_conf_fail(err, x->bench->path, x->bench->line,
					     "benchmark '%s' of bench '%s' has more than %d axes", found[i].benchmark,
					     x->bench->name, ASSAY_MAX_AXES);
		if (!rc)
			rc = add_named(x, p, l, err);
	}
	free(found);
	return rc || n ? rc : add_named(x, p, l, err);
}

/* @device: "" for the CPU. */
static int add_case(const struct expansion *x, const struct point *at, const struct assay_catalog_variant *v,
		    const char *device, struct assay_planned_list *l, struct assay_err *err)
{
	const struct thread_count *t = at->threads;
	struct assay_planned p = { .bench = x->bench, .other_arch = v->other_arch };
	struct assay_case *c = &p.c;

	snprintf(c->op, sizeof(c->op), "%s", x->op->name);
	snprintf(c->variant, sizeof(c->variant), "%s", v->name);
	c->n_axes = (unsigned)assay_catalog_named_axes(x->op);
	if (c->n_axes < x->op->n_axes && at->shape->value[c->n_axes])
		c->n_axes++;
	for (unsigned i = 0; i < c->n_axes; i++)
		assay_plan_axis_value(&x->op->axes[i], at->shape->value[i], &c->axes[i]);
	snprintf(c->device, sizeof(c->device), "%s", device);
	c->threads = t->n;
	/* what runs on one thread only has no case of all threads, on one core as elsewhere */
	c->all_threads = t->all && (t->n > 1 || !v->one_thread);
	c->reference = v->reference;
	c->between_threads = t->between;
	c->cache = at->cache;
	c->budget_ns = x->budget_ns;
	c->timeout_ns = x->timeout_ns;
	c->memory_bytes = x->memory_bytes;
	c->own_threads = x->own_threads;
	memcpy(c->counters, x->counters, sizeof(c->counters));
	if (v->unavailable)
		snprintf(c->skip_reason, sizeof(c->skip_reason), "%s", v->unavailable);
	else if (v->one_thread && c->threads > 1)
		snprintf(c->skip_reason, sizeof(c->skip_reason), "runs on one thread only");
	else if (c->threads > x->o->all_threads)
		snprintf(c->skip_reason, sizeof(c->skip_reason), "needs %u threads, %u allowed here", c->threads,
			 x->o->all_threads);
	return x->op->program && x->op->program->reads ? add_benchmarks(x, &p, l, err) : add_named(x, &p, l, err);
}

/* A case for each device that is asked for, of those that the variant can run on; the first one where none is. */
static int add_devices(const struct expansion *x, const struct point *at, const struct assay_catalog_variant *v,
		       struct assay_planned_list *l, struct assay_err *err)
{
	const struct assay_strings *asked = &x->o->devices;
	char device[ASSAY_DEVICE_MAX] = "", name[ASSAY_NAME_MAX];
	bool found = false;
	unsigned number;
	int rc = 0;

	if (v->device_kind == ASSAY_DEVICE_CPU)
		return add_case(x, at, v, "", l, err);
	for (size_t i = 0; i < asked->n && !rc; i++)
		if (assay_device_read(asked->v[i], name, &number) &&
		    !strcmp(name, assay_catalog_device_name(x->cat, v->device_kind))) {
			found = true;
			rc = add_case(x, at, v, asked->v[i], l, err);
		}
	snprintf(device, sizeof(device), "%s:0", assay_catalog_device_name(x->cat, v->device_kind));
	return found ? rc : add_case(x, at, v, device, l, err);
}

static int cross(const struct expansion *x, struct assay_planned_list *l, struct assay_err *err)
{
	bool one = has_one_thread(x);
	int rc = 0;

	/* also those that several entries of a list ask for */
	if ((double)x->n_shapes * (double)x->n_threads * (double)x->n_cache * (double)x->n_variants > MAX_COMBINATIONS)
		return assay_conf_fail(err, x->bench->path, x->bench->line,
				       "bench '%s' combines its shapes, threads and variants in more than %d ways",
				       x->bench->name, MAX_COMBINATIONS);
	for (size_t s = 0; s < x->n_shapes; s++)
		for (size_t t = 0; t < x->n_threads; t++)
			for (size_t k = 0; k < x->n_cache; k++)
				for (size_t v = 0; !rc && v < x->n_variants; v++) {
					const struct point at = { &x->shapes[s], &x->threads[t], x->cache[k] };

					/* More threads of what uses one are the case at t=1, which stands already. */
					if (x->variants[v]->one_thread && x->threads[t].n > 1 &&
					    (x->threads[t].all || x->threads[t].between) && one)
						continue;
					rc = add_devices(x, &at, x->variants[v], l, err);
				}
	return rc;
}

int assay_plan_expand(const struct assay_bench *bench, const struct assay_plan_options *o,
		      const struct assay_catalog *cat, struct assay_planned_list *l, struct assay_err *err)
{
	struct expansion x = { .bench = bench, .o = o, .cat = cat };
	int rc;

	rc = read_op(&x, err);
	if (!rc)
		rc = read_variants(&x, err);
	if (!rc)
		rc = assay_plan_shapes(bench, x.op, o->batch_size, &x.shapes, &x.n_shapes, err);
	if (!rc)
		rc = read_threads(&x, err);
	if (!rc)
		rc = read_cache(&x, err);
	if (!rc)
		rc = read_limits(&x, err);
	if (!rc)
		rc = read_own_threads(&x, err);
	if (!rc)
		rc = read_counters(&x, err);
	if (!rc)
		rc = cross(&x, l, err);
	free(x.variants);
	free(x.shapes);
	free(x.threads);
	return rc;
}
