/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and checks answers. The checks read only the copy. */
#include "worker/reply.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

/* Beyond what any machine has. */
#define MOST_BYTES (UINT64_C(1) << 52)
#define MOST_CPUS  65536
/* The worker's clock and the controller's may disagree by so much. */
#define CLOCK_FACTOR 2
#define CLOCK_NS     1000000000u
/* The same clock, read on two CPUs, may differ by so much. */
#define CLOCK_SKEW_NS 1000000u
/* Observed in one process: one a nanosecond, for months. */
#define MOST_VALUES (UINT64_C(1) << 53)
/* Of the elements of a tensor. */
#define MOST_ELEMENT_BYTES 8

#define REPLY(member) offsetof(struct assay_worker_reply, member)
#define ARRAY(n, array, most_n)                                                                                        \
	{                                                                                                              \
#n, REPLY(n), REPLY(array), sizeof(((struct assay_worker_reply *)0)->array[0]), most_n                 \
	}

/* The arrays at the end of an answer, and how many entries are told. */
static const struct {
	const char *n_name;
	size_t n_at, at, entry_bytes;
	uint32_t most;
} arrays[] = {
	ARRAY(n_threads, cpus, ASSAY_PAGE_CPUS),       ARRAY(n_threads, core_least, ASSAY_PAGE_CPUS),
	ARRAY(n_samples, samples, ASSAY_PAGE_SAMPLES), ARRAY(window_bytes, window, ASSAY_PAGE_WINDOW),
	ARRAY(n_metrics, metrics, ASSAY_PAGE_METRICS), ARRAY(n_counts, counts, ASSAY_PAGE_COUNTS),
	ARRAY(n_missing, missing, ASSAY_PAGE_COUNTS),  ARRAY(n_histograms, histograms, ASSAY_MAX_HISTOGRAMS),
};
#define N_ARRAYS (sizeof(arrays) / sizeof(arrays[0]))
/* The members before the first array. */
#define HEAD_BYTES REPLY(cpus)

static uint32_t entries_of(const struct assay_worker_reply *r, size_t array)
{
	uint32_t n;

	memcpy(&n, (const char *)r + arrays[array].n_at, sizeof(n));
	return n;
}

static void copy_array(struct assay_worker_reply *to, const struct assay_worker_reply *from, size_t array, uint32_t n)
{
	memcpy((char *)to + arrays[array].at, (const char *)from + arrays[array].at, n * arrays[array].entry_bytes);
}

void assay_reply_publish(struct assay_worker_reply *page, const struct assay_worker_reply *own)
{
	memcpy(page, own, HEAD_BYTES);
	for (size_t i = 0; i < N_ARRAYS; i++)
		copy_array(page, own, i, entries_of(own, i));
}

void assay_reply_withdraw(struct assay_worker_reply *page, const struct assay_worker_reply *own)
{
	memset(page, 0, HEAD_BYTES);
	for (size_t i = 0; i < N_ARRAYS; i++)
		memset((char *)page + arrays[i].at, 0, entries_of(own, i) * arrays[i].entry_bytes);
}

static __attribute__((format(printf, 2, 3))) int nonsense(struct assay_err *err, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = assay_err_setv(err, ASSAY_EWORKER, fmt, ap);
	va_end(ap);
	assay_err_prefix(err, "worker's reply makes no sense");
	return rc;
}

/* ---- members before the arrays ---- */

static bool ends(const char *text, size_t size)
{
	return memchr(text, '\0', size);
}

/* Empty, or hexadecimal digits as assay_hash() writes them. */
static bool is_digest(const char *text)
{
	size_t n = strnlen(text, ASSAY_DIGEST_LEN + 1);

	for (size_t i = 0; i < n; i++)
		if (!isdigit((unsigned char)text[i]) && !(text[i] >= 'a' && text[i] <= 'f'))
			return false;
	return !n || n == ASSAY_DIGEST_LEN;
}

static int check_numbers(const struct assay_worker_reply *r, uint64_t longest_ns, struct assay_err *err)
{
	const struct {
		const char *name;
		uint64_t value, most;
	} numbers[] = {
		{ "prepare_ns", r->prepare_ns, longest_ns },
		{ "prepare_bytes", r->prepare_bytes, MOST_BYTES },
		{ "first_ns", r->first_ns, longest_ns },
		{ "first_bytes", r->first_bytes, MOST_BYTES },
		{ "op_bytes", r->op_bytes, MOST_BYTES },
		{ "input_bytes", r->input_bytes, r->op_bytes },
		{ "own_bytes", r->own_bytes, MOST_BYTES },
		{ "call_parts", r->call_parts, UINT32_MAX },
		{ "step.steps", r->step.steps, UINT32_MAX },
		{ "step.ns", r->step.ns, longest_ns * r->n_threads },
		{ "output_bytes", r->output_bytes, MOST_BYTES },
		{ "element", r->element, r->output_bytes },
		{ "element_at", r->element_at, r->output_bytes },
		{ "element_bytes", r->element_bytes, MOST_ELEMENT_BYTES },
		{ "rss_peak_bytes", r->rss_peak_bytes, MOST_BYTES },
		{ "n_known", r->n_known, ASSAY_PAGE_TOKENS },
	};

	const double expected[] = { r->step.by_outputs, r->step.by_work, r->step.by_memory };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].value > numbers[i].most)
			return nonsense(err, "%s %" PRIu64 " of at most %" PRIu64, numbers[i].name, numbers[i].value,
					numbers[i].most);
	if (r->numa_node < -1 || r->numa_node >= MOST_CPUS)
		return nonsense(err, "numa_node %d", r->numa_node);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (!(isfinite(expected[i]) && expected[i] >= 0))
			return nonsense(err, "%g steps of a call", expected[i]);
	if (!isfinite(r->max_rel_err))
		return nonsense(err, "max_rel_err %g", r->max_rel_err);
	for (int i = 0; i < 2; i++)
		if (!isfinite(r->accepted.max_rel_err[i]))
			return nonsense(err, "accepted.max_rel_err[%d] %g", i, r->accepted.max_rel_err[i]);
	return 0;
}

static int check_deviation(const char *name, const struct assay_deviation *d, struct assay_err *err)
{
	if (d->edges & ~(unsigned)ASSAY_EDGES)
		return nonsense(err, "%s.edges 0x%x", name, d->edges);
	if (!ends(d->reason, sizeof(d->reason)))
		return nonsense(err, "%s.reason has no end", name);
	return 0;
}

static int check_texts(const struct assay_worker_reply *r, struct assay_err *err)
{
	if (!ends(r->reason, sizeof(r->reason)))
		return nonsense(err, "reason has no end");
	if (!ends(r->wrong, sizeof(r->wrong)))
		return nonsense(err, "wrong has no end");
	if (!ends(r->refused, sizeof(r->refused)))
		return nonsense(err, "refused has no end");
	if (!ends(r->output_name, sizeof(r->output_name)))
		return nonsense(err, "output_name has no end");
	if (!is_digest(r->code_hash))
		return nonsense(err, "code_hash is not a digest");
	if (!is_digest(r->digest))
		return nonsense(err, "digest is not a digest");
	for (int i = 0; i < 2; i++)
		if (!is_digest(r->accepted.digest[i]))
			return nonsense(err, "accepted.digest[%d] is not a digest", i);
	if (check_deviation("deviation", &r->deviation, err) ||
	    check_deviation("accepted.deviation[0]", &r->accepted.deviation[0], err) ||
	    check_deviation("accepted.deviation[1]", &r->accepted.deviation[1], err))
		return ASSAY_EWORKER;
	return 0;
}

/* ---- arrays ---- */

static int check_cpus(const struct assay_worker_reply *r, struct assay_err *err)
{
	for (uint32_t i = 0; i < r->n_threads; i++)
		if (r->cpus[i] < -1 || r->cpus[i] >= MOST_CPUS)
			return nonsense(err, "cpus[%u] %d", i, r->cpus[i]);
	return 0;
}

/* How many samples the order asks for. */
static uint32_t wanted_samples(const struct assay_order *o)
{
	const uint32_t count = o->args.count, blocks = ASSAY_PAGE_SAMPLES / 2;

	switch ((enum assay_command)o->command) {
	case ASSAY_CMD_SAMPLE:
		return count < ASSAY_PAGE_SAMPLES ? count : ASSAY_PAGE_SAMPLES;
	case ASSAY_CMD_PAIR:
		return 2 * (count < blocks ? count : blocks);
	default:
		return 0;
	}
}

static uint32_t possible_flags(const struct assay_order *o)
{
	return ASSAY_DISTURB_ALL | ASSAY_SAMPLE_WAIT_TOLD | ASSAY_SAMPLE_POLLED |
	       (o->command == ASSAY_CMD_PAIR && o->args.turn_parts ? ASSAY_SAMPLE_CONTINUES : 0) |
	       (o->command == ASSAY_CMD_PAIR && o->args.slice_ns ? ASSAY_SAMPLE_BESIDE : 0);
}

static int check_samples(const struct assay_worker_reply *r, const struct assay_order *o, uint64_t longest_ns,
			 struct assay_err *err)
{
	const uint32_t wanted = wanted_samples(o), flags = possible_flags(o);

	if (r->n_samples > wanted || (r->n_samples < wanted && r->status == ASSAY_STATUS_OK))
		return nonsense(err, "n_samples %u, %u were asked for", r->n_samples, wanted);
	for (uint32_t i = 0; i < r->n_samples; i++) {
		const struct assay_sample *s = &r->samples[i];
		const uint64_t longest = s->waited_ns > s->stolen_ns ? s->waited_ns : s->stolen_ns;

		if (s->iterations != o->args.iterations)
			return nonsense(err, "samples[%u].iterations %" PRIu64 ", %" PRIu64 " were asked for", i,
					s->iterations, o->args.iterations);
		if (s->ns > longest_ns)
			return nonsense(err, "samples[%u].ns %" PRIu64 " is longer than the worker ran", i, s->ns);
		if (longest > longest_ns)
			return nonsense(err, "samples[%u] lost %" PRIu64 " ns, more than the worker ran", i, longest);
		if (s->flags & ~flags)
			return nonsense(err, "samples[%u].flags 0x%x", i, s->flags);
	}
	return 0;
}

static int check_metrics(const struct assay_worker_reply *r, struct assay_err *err)
{
	for (uint32_t i = 0; i < r->n_metrics; i++) {
		if (!ends(r->metrics[i].tag, sizeof(r->metrics[i].tag)))
			return nonsense(err, "metrics[%u].tag has no end", i);
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(r->metrics[i].tag, r->metrics[k].tag))
				return nonsense(err, "metrics[%u] and metrics[%u] have the same tag", k, i);
	}
	return 0;
}

static int check_histograms(const struct assay_worker_reply *r, struct assay_err *err)
{
	for (uint32_t i = 0; i < r->n_histograms; i++) {
		const struct assay_page_histogram *h = &r->histograms[i];
		uint64_t n = 0;

		if (!ends(h->tag, sizeof(h->tag)))
			return nonsense(err, "histograms[%u].tag has no end", i);
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(h->tag, r->histograms[k].tag))
				return nonsense(err, "histograms[%u] and histograms[%u] have the same tag", k, i);
		for (unsigned k = 0; k < ASSAY_HISTOGRAM_BUCKETS; k++) {
			if (h->n[k] > MOST_VALUES - n)
				return nonsense(err, "histograms[%u] has more than %" PRIu64 " values", i, MOST_VALUES);
			n += h->n[k];
		}
	}
	return 0;
}

static bool is_source(const char *text)
{
	static const char *const sources[] = { ASSAY_SOURCES };

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (!strncmp(text, sources[i], ASSAY_SOURCE_MAX))
			return true;
	return false;
}

/* The name of a count, and its source. */
static int check_name(const char *array, uint32_t i, const char *name, const char *source, struct assay_err *err)
{
	if (!name[0] || !ends(name, ASSAY_NAME_MAX))
		return nonsense(err, "%s[%u].name is empty or has no end", array, i);
	if (!is_source(source))
		return nonsense(err, "%s[%u].source is none", array, i);
	return 0;
}

/* A bool that a plugin wrote may be neither; to read it as one is undefined. */
static bool is_bool(const bool *b)
{
	unsigned char byte;

	memcpy(&byte, b, sizeof(byte));
	return byte <= 1;
}

static int check_count(const struct assay_worker_reply *r, uint32_t i, struct assay_err *err)
{
	const struct assay_count *c = &r->counts[i];
	int rc = check_name("counts", i, c->name, c->source, err);

	if (rc)
		return rc;
	if (!ends(c->how, sizeof(c->how)))
		return nonsense(err, "counts[%u].how has no end", i);
	if (!isfinite(c->value))
		return nonsense(err, "counts[%u].value %g", i, c->value);
	if (!is_bool(&c->per_iteration))
		return nonsense(err, "counts[%u].per_iteration is neither true nor false", i);
	if (c->more_rounds)
		return nonsense(err, "counts[%u].more_rounds %u", i, c->more_rounds);
	if (!(c->running_frac >= 0 && c->running_frac <= 1))
		return nonsense(err, "counts[%u].running_frac %g", i, c->running_frac);
	for (uint32_t k = 0; k < i; k++)
		if (!strcmp(c->name, r->counts[k].name))
			return nonsense(err, "counts[%u] and counts[%u] have the same name", k, i);
	return 0;
}

static int check_missing(const struct assay_worker_reply *r, uint32_t i, struct assay_err *err)
{
	const struct assay_unavailable *m = &r->missing[i];
	int rc = check_name("missing", i, m->name, m->source, err);

	if (rc)
		return rc;
	if (!ends(m->reason, sizeof(m->reason)))
		return nonsense(err, "missing[%u].reason has no end", i);
	for (uint32_t k = 0; k < i; k++)
		if (!strcmp(m->name, r->missing[k].name))
			return nonsense(err, "missing[%u] and missing[%u] have the same name", k, i);
	return 0;
}

/*
 * A worker cannot take an order before it was given, nor answer it later than now. If its kernel slows the clock down,
 * the worker's times fall behind those of this process, however busy the machine is.
 */
static int check_clock(const struct assay_worker_reply *r, const struct assay_reply_expected *e, struct assay_err *err)
{
	const struct assay_clock *c = e->clock;

	if (!c)
		return 0;
	if (r->begun_ticks < e->given_ticks &&
	    assay_clock_ticks_to_ns(c, e->given_ticks - r->begun_ticks) > CLOCK_SKEW_NS)
		return nonsense(err, "its clock is behind the controller's, a kernel may have slowed it down");
	if (r->ended_ticks > e->now_ticks && assay_clock_ticks_to_ns(c, r->ended_ticks - e->now_ticks) > CLOCK_SKEW_NS)
		return nonsense(err, "its clock is ahead of the controller's, a kernel may have changed it");
	return 0;
}

/* ---- all of it ---- */

static bool may_say(int32_t status)
{
	switch ((enum assay_status)status) {
	case ASSAY_STATUS_OK:
	case ASSAY_STATUS_SKIPPED:
	case ASSAY_STATUS_WRONG:
	case ASSAY_STATUS_FAILED:
		return true;
	default:
		return false; /* how a process ends, its controller sees */
	}
}

static int take_head(struct assay_worker_reply *own, const struct assay_worker_reply *page,
		     const struct assay_reply_expected *e, struct assay_err *err)
{
	memcpy(own, page, HEAD_BYTES);
	atomic_signal_fence(memory_order_seq_cst); /* no check may look at the page instead */
	if (own->token != e->order->token)
		return nonsense(err, "it does not answer the command");
	if (!may_say(own->status))
		return nonsense(err, "status %d", own->status);
	for (size_t i = 0; i < N_ARRAYS; i++)
		if (entries_of(own, i) > arrays[i].most)
			return nonsense(err, "%s %u of at most %u", arrays[i].n_name, entries_of(own, i),
					arrays[i].most);
	if (own->n_threads != e->n_threads && (own->n_threads || own->status == ASSAY_STATUS_OK))
		return nonsense(err, "n_threads %u, %u were asked for", own->n_threads, e->n_threads);
	return 0;
}

int assay_reply_take(struct assay_worker_reply *own, const struct assay_worker_reply *page,
		     const struct assay_reply_expected *e, struct assay_err *err)
{
	const uint64_t longest_ns = CLOCK_FACTOR * e->age_ns + CLOCK_NS;
	int rc = take_head(own, page, e, err);

	if (!rc) {
		for (size_t i = 0; i < N_ARRAYS; i++)
			copy_array(own, page, i, entries_of(own, i));
		atomic_signal_fence(memory_order_seq_cst);
		rc = check_numbers(own, longest_ns, err);
	}
	if (!rc)
		rc = check_texts(own, err);
	if (!rc)
		rc = check_cpus(own, err);
	if (!rc)
		rc = check_samples(own, e->order, longest_ns, err);
	if (!rc)
		rc = check_metrics(own, err);
	if (!rc)
		rc = check_histograms(own, err);
	for (uint32_t i = 0; i < own->n_counts && !rc; i++)
		rc = check_count(own, i, err);
	for (uint32_t i = 0; i < own->n_missing && !rc; i++)
		rc = check_missing(own, i, err);
	if (!rc)
		rc = check_clock(own, e, err);
	if (rc)
		memset(own, 0, sizeof(*own));
	else
		assay_reply_make_printable(own);
	return rc;
}

/* ---- reply text ---- */

static uint32_t at_most(uint32_t n, uint32_t most)
{
	return n < most ? n : most;
}

void assay_reply_make_printable(struct assay_worker_reply *r)
{
	assay_printable_line(r->reason, sizeof(r->reason));
	assay_printable_line(r->wrong, sizeof(r->wrong));
	assay_printable_line(r->refused, sizeof(r->refused));
	assay_printable_line(r->deviation.reason, sizeof(r->deviation.reason));
	for (int i = 0; i < 2; i++)
		assay_printable_line(r->accepted.deviation[i].reason, sizeof(r->accepted.deviation[i].reason));
	assay_printable_line(r->output_name, sizeof(r->output_name));
	for (uint32_t i = 0; i < at_most(r->n_metrics, ASSAY_PAGE_METRICS); i++)
		assay_printable_line(r->metrics[i].tag, sizeof(r->metrics[i].tag));
	for (uint32_t i = 0; i < at_most(r->n_histograms, ASSAY_MAX_HISTOGRAMS); i++)
		assay_printable_line(r->histograms[i].tag, sizeof(r->histograms[i].tag));
	for (uint32_t i = 0; i < at_most(r->n_counts, ASSAY_PAGE_COUNTS); i++) {
		struct assay_count *c = &r->counts[i];

		assay_printable_line(c->name, sizeof(c->name));
		assay_printable_line(c->source, sizeof(c->source));
		assay_printable_line(c->how, sizeof(c->how));
	}
	for (uint32_t i = 0; i < at_most(r->n_missing, ASSAY_PAGE_COUNTS); i++) {
		struct assay_unavailable *u = &r->missing[i];

		assay_printable_line(u->name, sizeof(u->name));
		assay_printable_line(u->source, sizeof(u->source));
		assay_printable_line(u->reason, sizeof(u->reason));
	}
}
