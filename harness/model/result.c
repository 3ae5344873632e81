/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership of results and runs, and the names of statuses. */
#include "model/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/exact.h"

static const char *const status_names[ASSAY_N_STATUS] = {
	[ASSAY_STATUS_OK] = "ok",           [ASSAY_STATUS_SKIPPED] = "skipped", [ASSAY_STATUS_WRONG] = "wrong",
	[ASSAY_STATUS_CRASHED] = "crashed", [ASSAY_STATUS_TIMEOUT] = "timeout", [ASSAY_STATUS_FAILED] = "failed",
};

const char *assay_status_name(enum assay_status s)
{
	return (unsigned)s < ASSAY_N_STATUS ? status_names[s] : "?";
}

static const struct {
	enum assay_disturb kind;
	const char *name;
} disturb_counts[] = {
	{ ASSAY_DISTURB_STEAL, "steal_samples" },
	{ ASSAY_DISTURB_MIGRATION, "migrated_samples" },
	{ ASSAY_DISTURB_THROTTLE, "throttled_samples" },
	{ ASSAY_DISTURB_FREQUENCY, "frequency_samples" },
	{ ASSAY_DISTURB_PRESSURE, "pressure_samples" },
	{ ASSAY_DISTURB_SLOW, "slow_core_samples" },
	{ ASSAY_DISTURB_DEVICE, "device_throttled_samples" },
};

const char *assay_disturb_count_name(enum assay_disturb kind)
{
	for (size_t i = 0; i < sizeof(disturb_counts) / sizeof(disturb_counts[0]); i++)
		if (disturb_counts[i].kind == kind)
			return disturb_counts[i].name;
	return NULL;
}

bool assay_disturb_is_count(const char *name)
{
	for (size_t i = 0; i < sizeof(disturb_counts) / sizeof(disturb_counts[0]); i++)
		if (!strcmp(disturb_counts[i].name, name))
			return true;
	return false;
}

const char *assay_own_count(size_t i)
{
	static const char *const others[] = { ASSAY_COUNT_DISTURBED, ASSAY_COUNT_SWITCHES, ASSAY_COUNT_FAULTS,
					      ASSAY_COUNT_ROOF };
	const size_t n = sizeof(disturb_counts) / sizeof(disturb_counts[0]);

	if (i < n)
		return disturb_counts[i].name;
	return i - n < sizeof(others) / sizeof(others[0]) ? others[i - n] : NULL;
}

const char *assay_bound_name(enum assay_bound b)
{
	static const char *const names[ASSAY_N_BOUNDS] = {
		[ASSAY_BOUND_NONE] = "none",
		[ASSAY_BOUND_BANDWIDTH] = "bandwidth",
		[ASSAY_BOUND_ARITHMETIC] = "arithmetic",
	};

	return (unsigned)b < ASSAY_N_BOUNDS ? names[b] : "?";
}

const char *assay_edge_name(unsigned i)
{
	static const char *const names[] = { "NaN", "infinity", "subnormals", "ties" };

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

const char *assay_edges_text(unsigned edges, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; assay_edge_name(i); i++)
		if (edges & 1u << i && n < size)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "", assay_edge_name(i));
	return buf;
}

void assay_deviation_add(struct assay_deviation *d, const struct assay_deviation *more)
{
	if (!d->edges)
		*d = *more;
	else
		d->edges |= more->edges;
}

void assay_result_release(struct assay_result *r)
{
	free(r->log);
	free(r->samples);
	free(r->metrics);
	free(r->raw_metrics);
	assay_histograms_release(&r->histograms, &r->n_histograms);
	free(r->cpus);
	r->log = NULL;
	r->samples = NULL;
	r->metrics = NULL;
	r->raw_metrics = NULL;
	r->cpus = NULL;
	r->n_samples = r->n_metrics = r->n_cpus = 0;
	assay_counters_release(&r->counters);
}

/* Cut, never overrun; NULL counts as "". */
static void set_name(char *dst, size_t size, const char *src)
{
	size_t len = src ? strnlen(src, size - 1) : 0;

	if (len)
		memcpy(dst, src, len);
	dst[len] = '\0';
}

int assay_result_put_metric(struct assay_result *r, const struct assay_metric *m)
{
	struct assay_metric *v = realloc(r->metrics, (r->n_metrics + 1) * sizeof(*v));

	if (!v)
		return ASSAY_ENOMEM;
	r->metrics = v;
	v[r->n_metrics++] = *m;
	return 0;
}

int assay_result_add_metric(struct assay_result *r, const char *tag, const char *unit, int better, double value)
{
	struct assay_metric m = { .better = better, .value = value };

	set_name(m.tag, sizeof(m.tag), tag);
	set_name(m.unit, sizeof(m.unit), unit);
	return assay_result_put_metric(r, &m);
}

int assay_result_set_metric(struct assay_result *r, const char *tag, const char *unit, int better, double value)
{
	for (size_t i = 0; i < r->n_metrics; i++)
		if (!strcmp(r->metrics[i].tag, tag)) {
			r->metrics[i].value = value;
			return 0;
		}
	return assay_result_add_metric(r, tag, unit, better, value);
}

bool assay_raw_metric_next(const char **p, char tag[ASSAY_METRIC_TAG_MAX], double *value)
{
	const size_t len = strcspn(*p, "\t\n");

	if ((*p)[len] != '\t') {
		*p += len + ((*p)[len] == '\n');
		return false;
	}
	snprintf(tag, ASSAY_METRIC_TAG_MAX, "%.*s", (int)len, *p);
	*p += len + 1;
	*value = strtod(*p, NULL);
	*p += strcspn(*p, "\t\n");
	*p += **p == '\t';
	return true;
}

/* The histogram like @h in all but its values, which may be empty; NULL without memory. */
static struct assay_histogram *histogram_like(struct assay_result *r, const struct assay_histogram *h)
{
	struct assay_histogram *to;

	for (size_t i = 0; i < r->n_histograms; i++)
		if (!strcmp(r->histograms[i].tag, h->tag))
			return &r->histograms[i];
	if (assay_grow(&r->histograms, r->n_histograms, sizeof(*to)))
		return NULL;
	to = &r->histograms[r->n_histograms++];
	*to = (struct assay_histogram){ .better = h->better };
	memcpy(to->tag, h->tag, sizeof(to->tag));
	memcpy(to->unit, h->unit, sizeof(to->unit));
	return to;
}

int assay_result_add_histogram(struct assay_result *r, const struct assay_histogram *h)
{
	struct assay_histogram *to = histogram_like(r, h);
	int rc = to ? 0 : ASSAY_ENOMEM;

	for (size_t i = 0; i < h->n_buckets && !rc; i++)
		rc = assay_histogram_add(to, h->buckets[i].at, h->buckets[i].n);
	for (size_t i = 0; i < assay_n_histogram_metrics && !rc; i++) {
		const struct assay_histogram_metric *m = &assay_histogram_metrics[i];
		const bool counts = m->q < 0;
		char tag[ASSAY_METRIC_TAG_MAX];

		assay_histogram_tag(h->tag, m->part, tag);
		rc = assay_result_set_metric(r, tag, counts ? "1" : h->unit, counts ? 0 : h->better,
					     counts ? (double)to->n : assay_histogram_quantile(to, m->q));
	}
	return rc;
}

bool assay_result_pace_tried(const struct assay_result *r)
{
	return assay_counters_find(&r->counters, assay_disturb_count_name(ASSAY_DISTURB_SLOW)) != NULL;
}

int assay_result_set_count(struct assay_result *r, const char *name, const char *source, const char *how, double value)
{
	struct assay_count c = { .value = value, .running_frac = 1 };

	for (size_t i = 0; i < r->counters.n; i++)
		if (!strcmp(r->counters.v[i].name, name)) {
			r->counters.v[i].value = value;
			return 0;
		}
	set_name(c.name, sizeof(c.name), name);
	set_name(c.source, sizeof(c.source), source);
	set_name(c.how, sizeof(c.how), how);
	return assay_counters_add(&r->counters, &c);
}

bool assay_result_is_right(const struct assay_result *r)
{
	return r->status == ASSAY_STATUS_OK && r->checked && r->correct;
}

static int add_name(struct assay_strings *names, const char *name, struct assay_err *err)
{
	return assay_strings_has(names, name) ? 0 : assay_strings_add(names, name, err);
}

int assay_result_names(const struct assay_result *r, struct assay_strings *names, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < r->n_metrics && !rc; i++)
		rc = add_name(names, r->metrics[i].tag, err);
	for (size_t i = 0; i < r->counters.n && !rc; i++)
		rc = add_name(names, r->counters.v[i].name, err);
	for (size_t i = 0; i < r->counters.n_missing && !rc; i++)
		rc = add_name(names, r->counters.missing[i].name, err);
	return rc;
}

const struct assay_metric *assay_result_metric(const struct assay_result *r, const char *tag)
{
	for (size_t i = 0; i < r->n_metrics; i++)
		if (!strcmp(r->metrics[i].tag, tag))
			return &r->metrics[i];
	return NULL;
}

void assay_run_release(struct assay_run *run)
{
	for (size_t i = 0; i < run->n_results; i++)
		assay_result_release(&run->results[i]);
	free(run->results);
	free(run->environment);
	free(run->all_cpus);
	if (run->exact)
		assay_exact_run_release(run->exact);
	free(run->exact);
	run->exact = NULL;
	run->results = NULL;
	run->environment = NULL;
	run->all_cpus = NULL;
	run->n_results = run->n_environment = run->n_all_cpus = 0;
}

bool assay_run_is_imported(const struct assay_run *run)
{
	return run->imported.format[0] != '\0';
}

bool assay_run_result_counts(const struct assay_run *run, const struct assay_result *r)
{
	return assay_result_is_right(r) || (assay_run_is_imported(run) && r->status == ASSAY_STATUS_OK && !r->checked);
}

const struct assay_result *assay_run_result(const struct assay_run *run, const char *key)
{
	for (size_t i = 0; i < run->n_results; i++)
		if (!strcmp(run->results[i].c.key, key))
			return &run->results[i];
	return NULL;
}

#define SWITCH_NS  1e6
#define TICK_NS    1e7
#define LOST_SHARE 0.02

/* Samples between two readings of the steal counter all carry the same ticks. */
static double most_ticks(const struct assay_sample *s, size_t n)
{
	double ticks = 0;

	for (size_t i = 0; i < n; i++)
		ticks = s[i].steal_ticks > ticks ? s[i].steal_ticks : ticks;
	return ticks;
}

static double waited_ns(const struct assay_sample *s, size_t n)
{
	double ns = 0;

	for (size_t i = 0; i < n; i++)
		ns += s[i].flags & ASSAY_SAMPLE_WAIT_TOLD ? (double)s[i].waited_ns : SWITCH_NS * s[i].switches;
	return ns;
}

static double stolen_ns(const struct assay_sample *s, size_t n)
{
	double ns = TICK_NS * most_ticks(s, n);

	for (size_t i = 0; i < n; i++)
		ns += (double)s[i].stolen_ns;
	return ns;
}

uint32_t assay_samples_disturbed(const struct assay_sample *s, size_t n)
{
	uint32_t flags = 0;
	double ns = 0;

	for (size_t i = 0; i < n; i++) {
		ns += (double)s[i].ns;
		flags |= s[i].flags & (ASSAY_DISTURB_MIGRATION | ASSAY_DISTURB_THROTTLE | ASSAY_DISTURB_DEVICE);
	}
	if (waited_ns(s, n) > LOST_SHARE * ns)
		flags |= ASSAY_DISTURB_SWITCH;
	if (stolen_ns(s, n) > LOST_SHARE * ns)
		flags |= ASSAY_DISTURB_STEAL;
	return flags;
}

double assay_samples_lost_ns(const struct assay_sample *s, size_t n)
{
	return waited_ns(s, n) + stolen_ns(s, n);
}

double assay_samples_told_ns(const struct assay_sample *s, size_t n)
{
	double ns = 0;

	for (size_t i = 0; i < n; i++)
		ns += (double)s[i].stolen_ns + (s[i].flags & ASSAY_SAMPLE_WAIT_TOLD ? (double)s[i].waited_ns : 0);
	return ns;
}

size_t assay_samples_of_round(const struct assay_sample *s, size_t n)
{
	size_t i = n ? 1 : 0;

	while (i < n && !(s[i].flags & ASSAY_SAMPLE_NEW_ROUND))
		i++;
	return i;
}

/* ---- call time ---- */

#define ENOUGH_CLEAN 20

/* Samples from @s on that are one call. */
static size_t length_of_call(const struct assay_sample *s, size_t n)
{
	size_t i = 1;

	while (i < n && s[i - 1].flags & ASSAY_SAMPLE_CONTINUES)
		i++;
	return i;
}

/* Without the time that others had the CPU; 0 where nothing would be left. */
static double time_of_call(const struct assay_sample *s, size_t n)
{
	double ns = -assay_samples_lost_ns(s, n);

	for (size_t i = 0; i < n; i++)
		ns += (double)s[i].ns;
	return ns > 0 && s->iterations ? ns / (double)s->iterations : 0;
}

size_t assay_call_times(const struct assay_sample *s, size_t n, double *out)
{
	size_t calls = 0, clean = 0, slow = 0, clean_slow = 0, kept = 0, length;
	bool drop, drop_slow;

	for (size_t i = 0; i < n; i += length) {
		length = length_of_call(&s[i], n - i);
		calls++;
		slow += assay_samples_slow(&s[i], length);
		if (assay_samples_disturbed(&s[i], length))
			continue;
		clean++;
		clean_slow += assay_samples_slow(&s[i], length);
	}
	drop = clean >= ENOUGH_CLEAN || 2 * clean >= calls;
	drop_slow = drop ? 2 * clean_slow <= clean : 2 * slow <= calls;
	for (size_t i = 0; i < n; i += length) {
		length = length_of_call(&s[i], n - i);
		if ((drop && assay_samples_disturbed(&s[i], length)) ||
		    (drop_slow && assay_samples_slow(&s[i], length)))
			continue;
		out[kept] = time_of_call(&s[i], length);
		kept += out[kept] > 0;
	}
	return kept;
}
