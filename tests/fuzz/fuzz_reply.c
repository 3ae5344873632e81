/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the controller reads an answer that a plugin wrote. The input says which command is answered, then what in a
 * right answer is overwritten: a place in two bytes, a length in one, and so many bytes.
 */
#include <math.h>

#include "fuzz.h"
#include "worker/reply.h"

#define N_THREADS 2
#define HEAD      offsetof(struct assay_worker_reply, cpus)

struct patch {
	size_t at, bytes;
};

static struct assay_worker_reply page, own;

/* A right answer to @order, with something in each array. */
static void fill(const struct assay_order *order)
{
	page.token = order->token;
	page.status = ASSAY_STATUS_OK;
	page.n_threads = N_THREADS;
	page.numa_node = -1;
	page.max_rel_err = -1;
	page.n_samples = order->command == ASSAY_CMD_PAIR     ? 2 * order->args.count
			 : order->command == ASSAY_CMD_SAMPLE ? order->args.count
							      : 0;
	page.n_metrics = page.n_counts = page.n_missing = 2;
	memcpy(page.digest, "0123456789abcdef0123456789abcdef", sizeof(page.digest));
	for (uint32_t i = 0; i < page.n_samples; i++)
		page.samples[i] = (struct assay_sample){ .iterations = order->args.iterations, .ns = 100 };
	for (unsigned i = 0; i < 2; i++) {
		page.metrics[i] = (struct assay_page_metric){ .tag = { (char)('a' + i) } };
		page.counts[i] = (struct assay_count){ .name = { (char)('a' + i) }, .source = "os", .running_frac = 1 };
		page.missing[i] = (struct assay_unavailable){ .name = { (char)('a' + i) }, .source = "pmu" };
	}
}

/* Half of the places lie before the arrays, and most of the others at the beginning of one. */
static size_t place_of(unsigned drawn)
{
	static const size_t begins[] = {
		offsetof(struct assay_worker_reply, cpus),    offsetof(struct assay_worker_reply, core_least),
		offsetof(struct assay_worker_reply, samples), offsetof(struct assay_worker_reply, window),
		offsetof(struct assay_worker_reply, metrics), offsetof(struct assay_worker_reply, counts),
		offsetof(struct assay_worker_reply, missing), 0,
	};

	return drawn & 0x8000 ? drawn % HEAD : begins[drawn >> 12 & 7] + (drawn & 0xfff);
}

static void check_text(const char *text, size_t size)
{
	FUZZ_CHECK(memchr(text, '\0', size));
}

/* Properties that readers of an accepted answer take for granted. */
static void check_accepted(const struct assay_reply_expected *e)
{
	FUZZ_CHECK(own.token == e->order->token);
	FUZZ_CHECK(own.status >= 0 && own.status < ASSAY_N_STATUS);
	FUZZ_CHECK(own.n_threads == N_THREADS || (!own.n_threads && own.status != ASSAY_STATUS_OK));
	FUZZ_CHECK(own.n_samples <= ASSAY_PAGE_SAMPLES && own.window_bytes <= ASSAY_PAGE_WINDOW);
	FUZZ_CHECK(own.n_metrics <= ASSAY_PAGE_METRICS && own.n_counts <= ASSAY_PAGE_COUNTS);
	FUZZ_CHECK(own.n_missing <= ASSAY_PAGE_COUNTS && isfinite(own.max_rel_err));
	check_text(own.reason, sizeof(own.reason));
	check_text(own.code_hash, sizeof(own.code_hash));
	check_text(own.digest, sizeof(own.digest));
	check_text(own.accepted.digest[0], sizeof(own.accepted.digest[0]));
	check_text(own.accepted.digest[1], sizeof(own.accepted.digest[1]));
	check_text(own.output_name, sizeof(own.output_name));
	for (uint32_t i = 0; i < own.n_samples; i++)
		FUZZ_CHECK(own.samples[i].iterations == e->order->args.iterations);
	for (uint32_t i = 0; i < own.n_metrics; i++)
		check_text(own.metrics[i].tag, sizeof(own.metrics[i].tag));
	for (uint32_t i = 0; i < own.n_counts; i++) {
		check_text(own.counts[i].name, sizeof(own.counts[i].name));
		check_text(own.counts[i].source, sizeof(own.counts[i].source));
		check_text(own.counts[i].how, sizeof(own.counts[i].how));
		FUZZ_CHECK(isfinite(own.counts[i].value));
	}
	for (uint32_t i = 0; i < own.n_missing; i++) {
		check_text(own.missing[i].name, sizeof(own.missing[i].name));
		check_text(own.missing[i].source, sizeof(own.missing[i].source));
		check_text(own.missing[i].reason, sizeof(own.missing[i].reason));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct patch patches[64];
	struct assay_order order = { .token = 77 };
	const struct assay_reply_expected e = { .order = &order, .n_threads = N_THREADS, .age_ns = 1000000000 };
	struct assay_err err = { 0 };
	size_t n = 0, at = 3;

	if (size < at)
		return 0;
	order.command = data[0] % (ASSAY_CMD_FINISH + 1);
	order.args.count = data[1] % 8;
	order.args.iterations = data[2] / 2 + 1;
	order.args.turn_parts = data[2] % 2;
	order.args.slice_ns = data[2] / 2 % 2;
	fill(&order);
	while (n < 64 && at + 3 < size) {
		struct patch *p = &patches[n];

		p->at = place_of((unsigned)data[at] << 8 | data[at + 1]);
		p->bytes = data[at + 2];
		at += 3;
		p->bytes = p->bytes < size - at ? p->bytes : size - at;
		p->bytes = p->bytes < sizeof(page) - p->at ? p->bytes : sizeof(page) - p->at;
		memcpy((char *)&page + p->at, data + at, p->bytes);
		at += p->bytes;
		n++;
	}
	fuzz_check_refusal(assay_reply_take(&own, &page, &e, &err), &err);
	if (err.code)
		FUZZ_CHECK(!strncmp(err.text, "worker's reply makes no sense: ", 31));
	else
		check_accepted(&e);
	memset(&page, 0, HEAD);
	for (size_t i = 0; i < n; i++)
		memset((char *)&page + patches[i].at, 0, patches[i].bytes);
	return 0;
}
