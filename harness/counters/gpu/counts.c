/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels are added up from CUPTI's records of activity. Counters are taken over a range by user replay: the call is
 * repeated until every pass of the counter has run. Each counter has a host object of its own: adding one that the GPU
 * lacks to a shared object would fail all of them.
 */
#include "counters/gpu/counts.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "counters/gpu/cupti_library.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define MOST_NAMES   4  /* kernels that are named */
#define NAME_BYTES   40 /* of a kernel's name; longer ones are cut */
#define MOST_PASSES  64

/* The counts @from … @to - 1 have no value, and this is the reason. */
static void refuse(struct assay_gpu_case *c, unsigned from, unsigned to, const char *why)
{
	for (unsigned i = from; i < to; i++)
		snprintf(c->v[i].reason, sizeof(c->v[i].reason), "%.255s", why);
}

static void keep(struct assay_gpu_counted *v, double value)
{
	v->counted = true;
	v->reason[0] = '\0';
	v->value = value;
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

struct kernel_log {
	const struct assay_cupti *cupti;
	uint64_t n, ns;
	size_t dropped;
	unsigned n_names;
	struct {
		char name[NAME_BYTES];
		uint64_t n, ns;
	} names[MOST_NAMES];
};

/* CUPTI's callbacks take no argument of the caller's, so the log that they fill is global. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel_log *kernel_log; /* NULL: nobody asks for kernels */

static void add_kernel(struct kernel_log *log, const struct cupti_kernel *k)
{
	const uint64_t ns = k->end > k->start ? k->end - k->start : 0;
	char name[NAME_BYTES];
	unsigned i = 0;

	snprintf(name, sizeof(name), "%s", k->name ? k->name : "");
	log->n++;
	log->ns += ns;
	while (i < log->n_names && strcmp(log->names[i].name, name))
		i++;
	if (i == MOST_NAMES)
		return;
	if (i == log->n_names)
		memcpy(log->names[log->n_names++].name, name, sizeof(name));
	log->names[i].n++;
	log->names[i].ns += ns;
}

static void wants_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*most_records = 0;
}

static void gives_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	void *record = NULL;
	size_t dropped = 0;

	(void)size;
	pthread_mutex_lock(&lock);
	while (kernel_log && !kernel_log->cupti->next(buffer, used, &record))
		if (*(const uint32_t *)record == CUPTI_KIND_CONCURRENT_KERNEL)
			add_kernel(kernel_log, record);
	if (kernel_log && !kernel_log->cupti->dropped(context, stream, &dropped))
		kernel_log->dropped += dropped;
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void listen(struct kernel_log *log)
{
	pthread_mutex_lock(&lock);
	kernel_log = log;
	pthread_mutex_unlock(&lock);
}

/* Count the kernels of one call. Returns what run() returned; what CUPTI refuses becomes the reason of the counts. */
static int count_kernels(const struct assay_cupti *cupti, struct assay_gpu_case *c, int (*run)(void *arg), void *arg)
{
	struct kernel_log log = { .cupti = cupti };
	struct assay_err why = { 0 };
	int rc = cupti->callbacks(wants_buffer, gives_buffer), failed = 0;

	listen(&log);
	rc = rc ? rc : cupti->enable(CUPTI_KIND_CONCURRENT_KERNEL);
	if (!rc) {
		failed = run(arg);
		rc = cupti->flush(CUPTI_FLUSH_FORCED);
		cupti->disable(CUPTI_KIND_CONCURRENT_KERNEL);
	}
	listen(NULL);
	if (rc)
		assay_cupti_refused(cupti, "watch kernels", rc, &why);
	else if (log.dropped)
		snprintf(why.text, sizeof(why.text), "CUPTI lost %zu records of kernels", log.dropped);
	else if (failed)
		snprintf(why.text, sizeof(why.text), "the call that was watched failed");
	else if (!log.n)
		snprintf(why.text, sizeof(why.text), "CUPTI saw no kernel of the call");
	if (why.text[0])
		refuse(c, ASSAY_GPU_KERNELS, ASSAY_GPU_KERNEL_NS + 1, why.text);
	else {
		char *how = c->v[ASSAY_GPU_KERNEL_NS].how;
		const size_t size = sizeof(c->v[0].how);
		size_t at = (size_t)snprintf(how, size, "CUPTI %u, an untimed call", log.cupti->version);

		snprintf(c->v[ASSAY_GPU_KERNELS].how, size, "%s", how);
		for (unsigned i = 0; i < log.n_names && at < size; i++)
			at += (size_t)snprintf(how + at, size - at, "%s%" PRIu64 " %s %" PRIu64 " ns", i ? ", " : ": ",
					       log.names[i].n, log.names[i].name, log.names[i].ns);
		keep(&c->v[ASSAY_GPU_KERNELS], (double)log.n);
		keep(&c->v[ASSAY_GPU_KERNEL_NS], (double)log.ns);
	}
	return failed;
}

/* ---- counters --------------------------------------------------------------------------------------------------- */

/* CUPTI's metrics. Where generations of GPUs differ there are two names, and the first that the chip knows is taken. */
static const struct counter {
	enum assay_gpu_count which;
	const char *names[2];
	double scale; /* from the metric's unit to the count's */
} counters[] = {
	{ ASSAY_GPU_OCCUPANCY, { "sm__warps_active.avg.pct_of_peak_sustained_active" }, 1e-2 },
	{ ASSAY_GPU_DRAM_READ, { "dram__bytes_read.sum", "dram__bytes_op_read.sum" }, 1 },
	{ ASSAY_GPU_DRAM_WRITTEN, { "dram__bytes_write.sum", "dram__bytes_op_write.sum" }, 1 },
	{ ASSAY_GPU_L2_HIT_RATE, { "lts__t_sector_hit_rate.pct" }, 1e-2 },
};

struct ranging {
	const struct assay_cupti *cupti;
	void *context;
	const char *chip;
	uint8_t *availability;
	/* of the counter that is being counted */
	void *host, *range;
	uint8_t *config, *data;
	size_t config_bytes, data_bytes, passes;
	const char *name;
};

/* Find out which chip it is and which of its counters may be used. */
static int open_ranging(struct ranging *r, struct assay_err *why)
{
	struct cupti_init init = { CUPTI_SIZE(cupti_init, priv), NULL };
	struct cupti_chip chip = { .size = CUPTI_SIZE(cupti_chip, name) };
	struct cupti_availability a = { .size = CUPTI_SIZE(cupti_availability, image) };
	int device = 0, rc = assay_cupti_context(&r->context, &device, why);

	if (rc)
		return rc;
	rc = r->cupti->init(&init);
	if (rc)
		return assay_cupti_refused(r->cupti, "start counting", rc, why);
	chip.device = (size_t)device;
	rc = r->cupti->chip(&chip);
	if (rc)
		return assay_cupti_refused(r->cupti, "name the GPU's chip", rc, why);
	r->chip = chip.name;
	a.context = r->context;
	rc = r->cupti->availability(&a);
	if (!rc) {
		a.image = r->availability = calloc(1, a.bytes + 1);
		if (!r->availability)
			return assay_err_set(why, ASSAY_ENOMEM, "out of memory");
		rc = r->cupti->availability(&a);
	}
	return rc ? assay_cupti_refused(r->cupti, "list the GPU's counters", rc, why) : 0;
}

static void close_counter(struct ranging *r)
{
	if (r->range)
		r->cupti->range_close(&(struct cupti_range){ CUPTI_SIZE(cupti_range, range), NULL, r->range });
	if (r->host)
		r->cupti->host_end(&(struct cupti_host_end){ CUPTI_SIZE(cupti_host_end, host), NULL, r->host });
	free(r->config);
	free(r->data);
	r->range = r->host = NULL;
	r->config = r->data = NULL;
}

/* Plan the passes that counting @name takes; ASSAY_EUNAVAILABLE where the chip does not have it. */
static int plan_passes(struct ranging *r, const char *name, struct assay_err *why)
{
	struct cupti_host h = { .size = CUPTI_SIZE(cupti_host, host),
				.type = CUPTI_TYPE_RANGE,
				.chip = r->chip,
				.availability = r->availability };
	struct cupti_host_metrics m = { .size = CUPTI_SIZE(cupti_host_metrics, n), .names = &r->name, .n = 1 };
	struct cupti_host_size s = { .size = CUPTI_SIZE(cupti_host_size, bytes) };
	struct cupti_host_image i = { .size = CUPTI_SIZE(cupti_host_image, image) };
	struct cupti_host_passes p = { .size = CUPTI_SIZE(cupti_host_passes, passes) };
	int rc = r->cupti->host(&h);

	r->name = name;
	r->host = m.host = s.host = i.host = rc ? NULL : h.host;
	rc = rc ? rc : r->cupti->host_metrics(&m);
	rc = rc ? rc : r->cupti->host_size(&s);
	if (rc)
		return assay_cupti_refused(r->cupti, "count it on this GPU", rc, why);
	r->config_bytes = i.bytes = p.bytes = s.bytes;
	r->config = i.image = p.image = calloc(1, s.bytes + 1);
	if (!r->config)
		return assay_err_set(why, ASSAY_ENOMEM, "out of memory");
	rc = r->cupti->host_image(&i);
	rc = rc ? rc : r->cupti->host_passes(&p);
	if (rc)
		return assay_cupti_refused(r->cupti, "plan the passes", rc, why);
	r->passes = p.passes;
	if (r->passes > MOST_PASSES)
		return assay_err_set(why, ASSAY_EUNAVAILABLE, "it would take %zu passes, %d are made", r->passes,
				     MOST_PASSES);
	return 0;
}

static int open_range(struct ranging *r, struct assay_err *why)
{
	struct cupti_range_open o = { .size = CUPTI_SIZE(cupti_range_open, range), .context = r->context };
	struct cupti_range_size s = {
		.size = CUPTI_SIZE(cupti_range_size, bytes), .names = &r->name, .n = 1, .ranges = 1, .nodes = 1
	};
	struct cupti_range_image i = { .size = CUPTI_SIZE(cupti_range_image, image) };
	struct cupti_range_config c = { .size = CUPTI_SIZE(cupti_range_config, level),
					.config_bytes = r->config_bytes,
					.config = r->config,
					.kind = CUPTI_USER_RANGE,
					.replay = CUPTI_USER_REPLAY,
					.ranges = 1,
					.levels = 1,
					.least_level = 1,
					.level = 1 };
	int rc = r->cupti->range_open(&o);

	r->range = s.range = i.range = c.range = rc ? NULL : o.range;
	rc = rc ? rc : r->cupti->range_size(&s);
	if (rc)
		return assay_cupti_refused(r->cupti, "open a range", rc, why);
	r->data_bytes = i.bytes = c.data_bytes = s.bytes;
	r->data = i.image = c.data = calloc(1, s.bytes + 1);
	if (!r->data)
		return assay_err_set(why, ASSAY_ENOMEM, "out of memory");
	rc = r->cupti->range_image(&i);
	rc = rc ? rc : r->cupti->range_config(&c);
	return rc ? assay_cupti_refused(r->cupti, "prepare a range", rc, why) : 0;
}

/* Run one pass: the call within the range. *all: no pass is left. *failed: what run() returned. CUPTI's result. */
static int run_pass(const struct ranging *r, int (*run)(void *arg), void *arg, bool *all, int *failed)
{
	struct cupti_range on = { CUPTI_SIZE(cupti_range, range), NULL, r->range };
	struct cupti_range_push push = { CUPTI_SIZE(cupti_range_push, name), NULL, r->range, "call" };
	struct cupti_range_stop stop = { .size = CUPTI_SIZE(cupti_range_stop, all), .range = r->range };
	int rc = r->cupti->range_start(&on), ended;

	if (rc)
		return rc;
	rc = r->cupti->range_push(&push);
	if (!rc) {
		*failed = run(arg);
		rc = r->cupti->range_pop(&on);
	}
	ended = r->cupti->range_stop(&stop);
	*all = stop.all;
	return rc ? rc : ended;
}

static int read_value(const struct ranging *r, double *value, struct assay_err *why)
{
	struct cupti_range_decode d = { .size = CUPTI_SIZE(cupti_range_decode, dropped), .range = r->range };
	const char *name = r->name;
	struct cupti_host_values v = { .size = CUPTI_SIZE(cupti_host_values, values),
				       .host = r->host,
				       .data = r->data,
				       .bytes = r->data_bytes,
				       .names = &name,
				       .n = 1,
				       .values = value };
	int rc = r->cupti->range_decode(&d);

	rc = rc ? rc : r->cupti->host_values(&v);
	if (rc)
		return assay_cupti_refused(r->cupti, "read what it counted", rc, why);
	if (d.dropped)
		return assay_err_set(why, ASSAY_EUNAVAILABLE, "CUPTI dropped %zu ranges", d.dropped);
	if (!isfinite(*value) || *value < 0)
		return assay_err_set(why, ASSAY_EUNAVAILABLE, "the GPU counted %g of %s", *value, name);
	return 0;
}

/* Repeat the call until every pass has run, and keep the value. Returns what run() returned where it failed, else 0. */
static int count_passes(struct ranging *r, struct assay_gpu_counted *out, double scale, int (*run)(void *arg),
			void *arg, struct assay_err *why)
{
	double value = NAN;
	size_t runs = 0;
	bool all = false;
	int rc = 0, failed = 0;

	while (!rc && !all && !failed && runs++ < MOST_PASSES)
		rc = run_pass(r, run, arg, &all, &failed);
	if (rc)
		assay_cupti_refused(r->cupti, "count in a range", rc, why);
	else if (failed)
		assay_err_set(why, ASSAY_EUNAVAILABLE, "the call that was counted failed");
	else if (!all)
		assay_err_set(why, ASSAY_EUNAVAILABLE, "CUPTI asked for more than %d passes", MOST_PASSES);
	else if (!read_value(r, &value, why)) {
		snprintf(out->how, sizeof(out->how), "CUPTI %u, %s of %s, %zu untimed call%s", r->cupti->version,
			 r->name, r->chip, runs, runs == 1 ? "" : "s");
		keep(out, value * scale);
	}
	return failed;
}

static int count_one(struct ranging *r, const struct counter *k, struct assay_gpu_case *c, int (*run)(void *arg),
		     void *arg)
{
	struct assay_err why = { 0 };
	int failed = 0, rc = -1;

	for (size_t i = 0; i < 2 && k->names[i] && rc; i++) {
		close_counter(r);
		why = (struct assay_err){ 0 };
		rc = plan_passes(r, k->names[i], &why);
	}
	if (!rc && !open_range(r, &why))
		failed = count_passes(r, &c->v[k->which], k->scale, run, arg, &why);
	if (!c->v[k->which].counted)
		refuse(c, k->which, k->which + 1, why.text);
	close_counter(r);
	return failed;
}

static int count_in_ranges(const struct assay_cupti *cupti, struct assay_gpu_case *c, int (*run)(void *arg), void *arg)
{
	struct ranging r = { .cupti = cupti };
	struct assay_err why = { 0 };
	int failed = 0;

	if (assay_cupti_has_ranges(cupti, &why) || open_ranging(&r, &why))
		refuse(c, ASSAY_GPU_OCCUPANCY, ASSAY_N_GPU_COUNTS, why.text);
	else
		for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]) && !failed; i++)
			failed = count_one(&r, &counters[i], c, run, arg);
	free(r.availability);
	return failed;
}

void assay_gpu_counts_take(struct assay_gpu_case *c, int (*run)(void *arg), void *arg)
{
	struct assay_cupti cupti;
	struct assay_err why = { 0 };

	/* stays with the counts that are not reached, because a call failed before them */
	refuse(c, 0, ASSAY_N_GPU_COUNTS, "an earlier call that was counted failed");
	if (assay_cupti_open(&cupti, &why))
		refuse(c, 0, ASSAY_N_GPU_COUNTS, why.text);
	else if (!count_kernels(&cupti, c, run, arg))
		count_in_ranges(&cupti, c, run, arg);
}
