/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of latencies, and the metrics that report() makes of them. */
#include "generate_stats.h"

#include <stdlib.h>
#include <string.h>

#include "../generate_ops.h"
#include "generate_vector.h"

void assay_generate_ring_push(struct gen_ring *r, double value)
{
	r->values[r->n++ % GEN_RING] = value;
}

static size_t kept(const struct gen_ring *r)
{
	return r->n < GEN_RING ? (size_t)r->n : GEN_RING;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Quantile @q by linear interpolation between order statistics (R's type 7); @sorted: room for GEN_RING. */
static double quantile(const struct gen_ring *r, double q, double *sorted)
{
	size_t n = kept(r), i;
	double at;

	if (n == 0)
		return 0;
	memcpy(sorted, r->values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	at = q * (double)(n - 1);
	i = (size_t)at;
	return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

double assay_generate_ring_median(const struct gen_ring *r, double *sorted)
{
	return quantile(r, 0.5, sorted);
}

static double mean(const struct gen_ring *r)
{
	size_t n = kept(r);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += r->values[i];
	return n ? sum / (double)n : 0;
}

/* ---- report ---- */

#define UNLIMITED 1e18

/* Indices of the histograms, which hold each token of all samples. */
enum { FIRST_TOKENS = ASSAY_GENERATE_N_METRICS - 2, NEXT_TOKENS };

/* Rates and times are medians, or the quantile in the name, over the latest GEN_RING runs or tokens. */
const struct assay_metric_def assay_generate_metrics[ASSAY_GENERATE_N_METRICS] = {
	{ "tokens_per_s", "1/s",
	  "prefill: prompt tokens; decode, chat: generated tokens; file: both; per second of a run, median", +1, 0, 0,
	  UNLIMITED },
	{ "forward_s", "s", "time in the layers and the head of a run, median", -1, 0, 0, UNLIMITED },
	{ "sampling_s", "s", "time to choose the tokens of a run, median", -1, 0, 0, UNLIMITED },
	{ "ttft_s", "s", "time to the first token of a request, median", -1, 0, 0, UNLIMITED },
	{ "tpot_mean_s", "s", "time per generated token after the first, mean", -1, 0, 0, UNLIMITED },
	{ "tpot_p50_s", "s", "time per generated token, median", -1, 0, 0, UNLIMITED },
	{ "tpot_p95_s", "s", "time per generated token, 95th percentile", -1, 0, 0, UNLIMITED },
	{ "tpot_p99_s", "s", "time per generated token, 99th percentile", -1, 0, 0, UNLIMITED },
	{ "model_bytes", "B", "weights, scales, embedding, head and norms", -1, 0, 0, UNLIMITED },
	{ "kv_bytes", "B", "keys and values", -1, 0, 0, UNLIMITED },
	{ "vector_bits", "1", "width of the vectors for what is not a matrix", 0, 0, 0, UNLIMITED },
	{ "time_embedding_frac", "1", "share of the time in the embedding", 0, 0, 0, 1 },
	{ "time_attention_frac", "1", "share of the time in attention with its norms and projections", 0, 0, 0, 1 },
	{ "time_ffn_frac", "1", "share of the time in the feed-forward with its norms and projections", 0, 0, 0, 1 },
	{ "time_head_frac", "1", "share of the time in the final norm and the head", 0, 0, 0, 1 },
	{ "time_sampling_frac", "1", "share of the time in sampling", 0, 0, 0, 1 },
	{ "encode_s", "s", "time to make the ids of a prompt from its text, median", -1, 0, 0, UNLIMITED },
	{ "decode_s", "s", "time to make text of the generated ids, median", -1, 0, 0, UNLIMITED },
	[FIRST_TOKENS] = { "first_token_s", "s", "time to the first token of each request", -1, ASSAY_METRIC_HISTOGRAM,
			   0, UNLIMITED },
	[NEXT_TOKENS] = { "next_token_s", "s", "time per generated token, of each after the first", -1,
			  ASSAY_METRIC_HISTOGRAM, 0, UNLIMITED },
};

const char *const assay_generate_counters[ASSAY_GENERATE_N_COUNTERS] = {
	"kv_lookups", "kv_hits", "kv_misses", "kv_evictions", "tokens", "prefill_steps", "decode_steps", "fallbacks",
};

void assay_generate_took_token(const struct assay_job *job, struct gen_latencies *l, bool first, double seconds)
{
	assay_generate_ring_push(first ? &l->ttft_s : &l->tpot_s, seconds);
	assay_observe(job, first ? FIRST_TOKENS : NEXT_TOKENS, seconds);
}

static void report_phases(const struct assay_job *job, const struct gen_stats *s)
{
	static const char *const tags[] = { "time_embedding_frac", "time_attention_frac", "time_ffn_frac",
					    "time_head_frac", "time_sampling_frac" };
	double total = 0;

	for (int i = 0; i < 5; i++)
		total += s->phase_s[i];
	for (int i = 0; i < 5 && total > 0; i++)
		job->host->metric(job, tags[i], s->phase_s[i] / total);
}

static void report_median(const struct assay_job *job, const char *tag, const struct gen_ring *r, double *sorted)
{
	if (r->n)
		job->host->metric(job, tag, assay_generate_ring_median(r, sorted));
}

void assay_generate_report_latencies(const struct assay_job *job, struct gen_latencies *l, int64_t tokens)
{
	const double run_s = assay_generate_ring_median(&l->run_s, l->sorted);

	if (run_s > 0)
		job->host->metric(job, "tokens_per_s", (double)tokens / run_s);
	report_median(job, "forward_s", &l->forward_s, l->sorted);
	report_median(job, "sampling_s", &l->sampling_s, l->sorted);
	report_median(job, "ttft_s", &l->ttft_s, l->sorted);
	if (!l->tpot_s.n)
		return;
	job->host->metric(job, "tpot_mean_s", mean(&l->tpot_s));
	job->host->metric(job, "tpot_p50_s", quantile(&l->tpot_s, 0.50, l->sorted));
	job->host->metric(job, "tpot_p95_s", quantile(&l->tpot_s, 0.95, l->sorted));
	job->host->metric(job, "tpot_p99_s", quantile(&l->tpot_s, 0.99, l->sorted));
}

int assay_generate_report(struct assay_job *job)
{
	struct gen_stats *s = job->op_state;
	const struct gen_plan *p = &s->plan;
	int64_t tokens = p->kind == GEN_PREFILL ? p->pp : p->kind == GEN_DECODE ? p->tg : p->n_out;

	job->host->metric(job, "model_bytes", (double)assay_generate_model_bytes(p));
	job->host->metric(job, "kv_bytes", (double)assay_generate_kv_bytes(p));
	if (job->device_kind == ASSAY_DEVICE_CPU)
		job->host->metric(job, "vector_bits", assay_generate_vector(job->shape->host)->bits);
	assay_generate_report_latencies(job, &s->took, tokens);
	report_phases(job, s);
	return 0;
}
