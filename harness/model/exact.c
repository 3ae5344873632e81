/* SPDX-License-Identifier: Apache-2.0 */
/* Names, sums and ownership of exact counts, and cache models. */
#include "model/exact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"

static const char *const event_names[ASSAY_N_EXACT_EVENTS] = {
#define ROW(event, name) name,
	ASSAY_EXACT_EVENTS(ROW)
#undef ROW
};

const char *assay_exact_event_name(enum assay_exact_event e)
{
	return (unsigned)e < ASSAY_N_EXACT_EVENTS ? event_names[e] : "?";
}

const char *assay_exact_how_name(enum assay_exact_how how)
{
	static const char *const names[ASSAY_N_EXACT_HOW] = { "callgrind", "stepped" };

	return (unsigned)how < ASSAY_N_EXACT_HOW ? names[how] : "?";
}

static const struct {
	const char *name;
	enum assay_exact_event missed;
	bool of_branches; /* of the data accesses otherwise */
} rates[] = {
	{ "d1_hit_rate", ASSAY_EXACT_D1_MISSES, false },
	{ "ll_hit_rate", ASSAY_EXACT_LL_MISSES, false },
	{ "branch_hit_rate", ASSAY_EXACT_MISPREDICTIONS, true },
};

#define METRIC_PREFIX "exact_"

bool assay_exact_is_metric(const char *tag)
{
	return !strncmp(tag, METRIC_PREFIX, strlen(METRIC_PREFIX));
}

double assay_exact_metric(const struct assay_exact_counts *c, const char *tag)
{
	if (!assay_exact_is_metric(tag))
		return NAN;
	tag += strlen(METRIC_PREFIX);
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		if (!strcmp(tag, event_names[e]))
			return (double)c->v[e];
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		if (!strcmp(tag, rates[i].name)) {
			uint64_t tried = rates[i].of_branches
						 ? c->v[ASSAY_EXACT_BRANCHES]
						 : c->v[ASSAY_EXACT_DATA_READS] + c->v[ASSAY_EXACT_DATA_WRITES];

			return tried ? 1.0 - (double)c->v[rates[i].missed] / (double)tried : NAN;
		}
	return NAN;
}

static int compare_functions(const struct assay_exact_function *f, const char *name, const char *object)
{
	int order = strcmp(f->name, name);

	return order ? order : strcmp(f->object, object);
}

static void add_counts(struct assay_exact_counts *sum, const struct assay_exact_counts *c)
{
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		sum->v[e] += c->v[e];
}

/* Where @f is or belongs; mostly last, as files have them in order. */
static size_t place_of(const struct assay_exact_case *c, const struct assay_exact_function *f)
{
	size_t lo = 0, hi = c->n_functions;

	if (hi && compare_functions(&c->functions[hi - 1], f->name, f->object) < 0)
		return hi;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare_functions(&c->functions[mid], f->name, f->object) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int assay_exact_add_function(struct assay_exact_case *c, const struct assay_exact_function *f)
{
	struct assay_exact_function *v;
	size_t at = place_of(c, f);

	if (at < c->n_functions && !compare_functions(&c->functions[at], f->name, f->object)) {
		add_counts(&c->functions[at].counts, &f->counts);
		add_counts(&c->total, &f->counts);
		return 0;
	}
	if (assay_grow(&c->functions, c->n_functions, sizeof(*v)))
		return ASSAY_ENOMEM;
	v = c->functions;
	memmove(&v[at + 1], &v[at], (c->n_functions - at) * sizeof(*v));
	v[at] = *f;
	c->n_functions++;
	add_counts(&c->total, &f->counts);
	return 0;
}

const struct assay_exact_function *assay_exact_function_find(const struct assay_exact_case *c, const char *name,
							     const char *object)
{
	for (size_t i = 0; i < c->n_functions; i++)
		if (!compare_functions(&c->functions[i], name, object))
			return &c->functions[i];
	return NULL;
}

bool assay_exact_is_on_device(const struct assay_exact_case *c)
{
	return c->status == ASSAY_STATUS_SKIPPED && !strcmp(c->reason, ASSAY_EXACT_ON_DEVICE);
}

bool assay_exact_is_unnamed(const struct assay_exact_case *c)
{
	return c->status == ASSAY_STATUS_SKIPPED && !strcmp(c->reason, ASSAY_EXACT_UNNAMED);
}

bool assay_exact_is_replaced(const struct assay_exact_case *c)
{
	return c->status == ASSAY_STATUS_SKIPPED && c->skip == ASSAY_EXACT_SKIP_SMALLER;
}

struct assay_exact_sums assay_exact_run_sums(const struct assay_exact_run *run)
{
	struct assay_exact_sums sums = { 0 };

	for (size_t i = 0; i < run->n_cases; i++) {
		const struct assay_exact_case *c = &run->cases[i];

		if (assay_exact_is_unnamed(c))
			sums.unnamed++;
		else if (assay_exact_is_replaced(c))
			sums.smaller++;
		else if (assay_exact_is_on_device(c))
			sums.device++;
		else if (c->status == ASSAY_STATUS_SKIPPED && c->skip == ASSAY_EXACT_SKIP_UNABLE)
			sums.unable++;
		else
			sums.owed++;
		sums.ok += c->status == ASSAY_STATUS_OK;
		sums.stepped += c->status == ASSAY_STATUS_OK && c->how == ASSAY_EXACT_STEPPED;
	}
	return sums;
}

struct assay_case assay_exact_case_named(const struct assay_exact_case *c)
{
	struct assay_case named = { .threads = 1, .all_threads = c->all_threads };

	memcpy(named.key, c->key, sizeof(named.key));
	return named;
}

void assay_exact_case_drop_counts(struct assay_exact_case *c)
{
	free(c->functions);
	free(c->detail);
	c->functions = NULL;
	c->detail = NULL;
	c->n_functions = 0;
	c->total = (struct assay_exact_counts){ { 0 } };
}

void assay_exact_case_release(struct assay_exact_case *c)
{
	assay_exact_case_drop_counts(c);
	free(c->log);
	c->log = NULL;
}

void assay_exact_change_text(uint64_t base, uint64_t head, char *buf, size_t size)
{
	uint64_t by = head > base ? head - base : base - head;

	if (!by)
		snprintf(buf, size, "=");
	else if (!base || !head)
		snprintf(buf, size, "%s", base ? "gone" : "new");
	else
		snprintf(buf, size, "%+.*f %%", by * 1000 < base ? 3 : 1, 100.0 * ((double)head / (double)base - 1.0));
}

void assay_exact_run_release(struct assay_exact_run *run)
{
	for (size_t i = 0; i < run->n_cases; i++)
		assay_exact_case_release(&run->cases[i]);
	free(run->cases);
	run->cases = NULL;
	run->n_cases = 0;
}

size_t assay_exact_run_keep(struct assay_exact_run *run, const char *glob)
{
	size_t kept = 0;

	for (size_t i = 0; i < run->n_cases; i++)
		if (assay_glob_match(glob, run->cases[i].key))
			run->cases[kept++] = run->cases[i];
		else
			assay_exact_case_release(&run->cases[i]);
	return run->n_cases = kept;
}

const struct assay_exact_case *assay_exact_case_find(const struct assay_exact_run *run, const char *key)
{
	for (size_t i = 0; i < run->n_cases; i++)
		if (!strcmp(run->cases[i].key, key))
			return &run->cases[i];
	return NULL;
}

void assay_exact_count_text(uint64_t count, char *buf, size_t size)
{
	char digits[24];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count), at = 0;

	for (size_t i = 0; i < n && at + 2 < size; i++) {
		if (i && (n - i) % 3 == 0)
			buf[at++] = ' ';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
}

void assay_exact_about_text(double count, char *buf, size_t size)
{
	double digit = 1;

	if (!(count >= 99.95 && count < 1e18)) {
		snprintf(buf, size, "%.3g", count);
		return;
	}
	while (count / digit >= 999.5)
		digit *= 10;
	assay_exact_count_text((uint64_t)(round(count / digit) * digit), buf, size);
}

void assay_cache_model_text(const struct assay_cache_model *m, char *buf, size_t size)
{
	struct assay_cache_model fixed;
	char l2[64] = "";

	if (m->l2.bytes && !assay_cache_model_find(m->name, &fixed))
		snprintf(l2, sizeof(l2), "L2 %llu KiB %u-way, ", (unsigned long long)m->l2.bytes / 1024, m->l2.ways);
	snprintf(buf, size, "%s: I1 %llu KiB %u-way, D1 %llu KiB %u-way, %sLL %llu KiB %u-way, %u-byte lines", m->name,
		 (unsigned long long)m->i1.bytes / 1024, m->i1.ways, (unsigned long long)m->d1.bytes / 1024, m->d1.ways,
		 l2, (unsigned long long)m->ll.bytes / 1024, m->ll.ways, m->d1.line_bytes);
}

bool assay_cache_model_find(const char *name, struct assay_cache_model *out)
{
	static const struct assay_cache_model canon = { .name = "canon",
							.i1 = { 32 << 10, 8, 64 },
							.d1 = { 48 << 10, 12, 64 },
							.l2 = { 512 << 10, 8, 64 },
							.ll = { 2 << 20, 16, 64 } };

	if (strcmp(name, canon.name))
		return false;
	*out = canon;
	return true;
}

struct assay_cache_level assay_cache_level_round(uint64_t bytes, unsigned ways, unsigned line_bytes)
{
	uint64_t set = (uint64_t)ways * line_bytes, sets = 1;

	while (sets * 2 * set <= bytes)
		sets *= 2;
	if (bytes > sets * set && bytes - sets * set > 2 * sets * set - bytes)
		sets *= 2;
	return (struct assay_cache_level){ .bytes = sets * set, .ways = ways, .line_bytes = line_bytes };
}
