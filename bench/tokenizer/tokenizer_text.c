/* SPDX-License-Identifier: Apache-2.0 */
/* Axes, tensors, inputs and checks of the tokenizer ops, and the variant that defines their ids. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf/corpora.h"
#include "../tokenizer_ops.h"

static const char *const caches[] = { "cold", "warm", NULL };

const struct assay_axis assay_tokenizer_axes[ASSAY_TOKENIZER_N_AXES] = {
	[ASSAY_TOKENIZER_VOCAB] = { .name = "vocab",
				    .help = "pre-tokenizer of a BPE vocabulary, or spm; the vocabulary is trained on "
					    "the corpora",
				    .symbols = assay_vocab_names,
				    .max = ASSAY_N_PRES,
				    .def = ASSAY_PRE_LLAMA_BPE },
	[ASSAY_TOKENIZER_CORPUS] = { .name = "corpus",
				     .help = "kind of text",
				     .symbols = assay_text_corpora,
				     .max = 4 },
	[ASSAY_TOKENIZER_BYTES] = { .name = "bytes",
				    .help = "bytes of the text",
				    .min = 1,
				    .max = 256 << 20,
				    .def = 1 << 20 },
	[ASSAY_TOKENIZER_TOKENS] = { .name = "tokens",
				     .help = "tokens of the vocabulary",
				     .min = 512,
				     .max = 32768,
				     .def = 8192 },
	[ASSAY_TOKENIZER_CACHE] = { .name = "cache",
				    .help = "word cache at the beginning of a call: cold, empty; warm, as the call "
					    "before left it",
				    .symbols = caches,
				    .max = 1 },
	[ASSAY_TOKENIZER_SLOTS] = { .name = "slots",
				    .help = "capacity of the word cache in words, a power of two",
				    .min = 64,
				    .max = 1 << 20,
				    .def = 1 << 15 },
};

const char *const assay_tokenizer_counters[ASSAY_TOKENIZER_N_COUNTERS] = {
	[ASSAY_TOKENIZER_LOOKUPS] = "vocab_lookups",
	[ASSAY_TOKENIZER_MERGES] = "bpe_merges",
	[ASSAY_TOKENIZER_HITS] = "word_cache_hits",
	[ASSAY_TOKENIZER_MISSES] = "word_cache_misses",
};

const struct assay_metric_def assay_tokenizer_metrics[ASSAY_TOKENIZER_N_METRICS] = {
	{ .tag = "text_tokens", .unit = "1", .help = "tokens of the text", .better = 0, .lo = 1, .hi = 0x1p31 },
	{ .tag = "bytes_per_token",
	  .unit = "B",
	  .help = "bytes of the text over its tokens",
	  .better = 0,
	  .lo = 0,
	  .hi = 0x1p31 },
	{ .tag = "text_tokens_per_s",
	  .unit = "1/s",
	  .help = "tokens per second, mean of all calls",
	  .better = 1,
	  .lo = 0,
	  .hi = 0x1p40 },
};

/* Made by fill(): the vocabulary, and a plain tokenizer for it. */
struct state {
	struct assay_tokenizer_state of;
	struct tokenizer_vocab vocab;
	struct assay_tokenizer plain;
};

/* The data that a call of the ops works on. */
struct data {
	int64_t bytes;
	uint8_t *text;
	int32_t *ids;
	int64_t *count;
};

static struct data data_of(const struct assay_job *job)
{
	return (struct data){ .bytes = job->shape->axis[ASSAY_TOKENIZER_BYTES],
			      .text = job->tensors[ASSAY_TOKENIZER_TEXT].data,
			      .ids = job->tensors[ASSAY_TOKENIZER_IDS].data,
			      .count = job->tensors[ASSAY_TOKENIZER_COUNT].data };
}

/* ---- sizes ---- */

static int describe(const struct assay_shape *shape, struct assay_problem *out, enum assay_role text,
		    enum assay_role ids, enum assay_role count)
{
	const int64_t bytes = shape->axis[ASSAY_TOKENIZER_BYTES];
	const uint32_t model = assay_tokenizer_model(shape->axis[ASSAY_TOKENIZER_VOCAB]);

	out->n_tensors = 3;
	out->tensors[ASSAY_TOKENIZER_TEXT] = (struct assay_tensor_spec){
		.name = "text", .role = text, .dtype = ASSAY_U8, .rank = 1, .dims = { bytes }
	};
	out->tensors[ASSAY_TOKENIZER_IDS] =
		(struct assay_tensor_spec){ .name = "ids",
					    .role = ids,
					    .dtype = ASSAY_I32,
					    .rank = 1,
					    .dims = { assay_tokenizer_most_ids(model, bytes) } };
	out->tensors[ASSAY_TOKENIZER_COUNT] = (struct assay_tensor_spec){
		.name = "count", .role = count, .dtype = ASSAY_I64, .rank = 1, .dims = { 1 }
	};
	return 0;
}

/* Rates of both directions are in bytes of the text. Ids are scratch memory, as their number is not known before. */
int assay_tokenizer_encode_describe(const struct assay_shape *shape, struct assay_problem *out,
				    struct assay_reason *why)
{
	const int64_t slots = shape->axis[ASSAY_TOKENIZER_SLOTS];

	if (slots & (slots - 1)) {
		snprintf(why->text, sizeof(why->text), "slots is %" PRId64 ", expected a power of two", slots);
		return -1;
	}
	out->cost.bytes_read = (double)shape->axis[ASSAY_TOKENIZER_BYTES];
	return describe(shape, out, ASSAY_INPUT, ASSAY_SCRATCH, ASSAY_OUTPUT);
}

int assay_tokenizer_decode_describe(const struct assay_shape *shape, struct assay_problem *out,
				    struct assay_reason *why)
{
	(void)why;
	out->cost.bytes_written = (double)shape->axis[ASSAY_TOKENIZER_BYTES];
	return describe(shape, out, ASSAY_OUTPUT, ASSAY_INPUT, ASSAY_INPUT);
}

/* ---- inputs ---- */

static int make_vocab(struct assay_job *job, struct state *s)
{
	const int64_t *axis = job->shape->axis;
	struct assay_reason why;

	if (assay_vocab_train_seeded(&s->vocab, axis[ASSAY_TOKENIZER_VOCAB], (int32_t)axis[ASSAY_TOKENIZER_TOKENS],
				     job->seed, &why))
		return job->host->fail(job, "%s", why.text);
	if (assay_tokenizer_init(&s->plain, &s->vocab.v, &why)) {
		assay_vocab_release(&s->vocab);
		return job->host->fail(job, "%s", why.text);
	}
	return 0;
}

static int make_state(struct assay_job *job)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return job->host->fail(job, "not enough memory");
	if (make_vocab(job, s)) {
		free(s);
		return -1;
	}
	s->of.size = sizeof(s->of);
	s->of.vocab = &s->vocab.v;
	job->op_state = s;
	return 0;
}

void assay_tokenizer_free(struct assay_job *job)
{
	struct state *s = job->op_state;

	if (!s)
		return;
	assay_tokenizer_release(&s->plain);
	assay_vocab_release(&s->vocab);
	free(s);
	job->op_state = NULL;
}

static void fill_text(const struct assay_job *job, uint8_t *text)
{
	const int64_t *axis = job->shape->axis;

	assay_corpus_bytes(job->seed, assay_corpus_named(assay_text_corpora[axis[ASSAY_TOKENIZER_CORPUS]]), 0, text,
			   axis[ASSAY_TOKENIZER_BYTES]);
}

int assay_tokenizer_encode_fill(struct assay_job *job)
{
	fill_text(job, data_of(job).text);
	return make_state(job);
}

int assay_tokenizer_decode_fill(struct assay_job *job)
{
	struct data d = data_of(job);
	uint8_t *text = malloc((size_t)d.bytes);
	int rc = text ? make_state(job) : job->host->fail(job, "not enough memory");

	if (!rc) {
		struct state *s = job->op_state;

		memset(d.ids, 0, job->tensors[ASSAY_TOKENIZER_IDS].bytes);
		fill_text(job, text);
		*d.count = assay_tokenizer_encode(&s->plain, text, d.bytes, false, d.ids);
		if (*d.count < 0)
			rc = job->host->fail(job, "not enough memory");
	}
	free(text);
	return rc;
}

/* ---- oracles ---- */

static void wrong(struct assay_check *out, const char *tensor, int64_t index)
{
	out->correct = 0;
	out->tensor = tensor;
	out->first_bad = index;
}

static void compare_text(struct assay_check *out, const uint8_t *got, const uint8_t *want, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (got[i] != want[i]) {
			wrong(out, "text", i);
			snprintf(out->reason.text, sizeof(out->reason.text), "got byte %u, want %u", got[i], want[i]);
			return;
		}
}

/* The ids have to be those of the plain tokenizer, and to give the text back. */
static void check_ids(struct assay_check *out, struct state *s, const struct data *d, int32_t *ids, uint8_t *text)
{
	const int64_t n = assay_tokenizer_encode(&s->plain, d->text, d->bytes, false, ids);

	if (n != *d->count) {
		wrong(out, "count", 0);
		snprintf(out->reason.text, sizeof(out->reason.text), "got %" PRId64 " tokens, want %" PRId64, *d->count,
			 n);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		if (d->ids[i] != ids[i]) {
			wrong(out, "ids", i);
			snprintf(out->reason.text, sizeof(out->reason.text), "got token %d, want %d", d->ids[i],
				 ids[i]);
			return;
		}
	if (assay_tokenizer_decode(&s->plain, ids, n, false, text, d->bytes) == d->bytes) {
		compare_text(out, text, d->text, d->bytes);
		return;
	}
	wrong(out, "ids", 0);
	snprintf(out->reason.text, sizeof(out->reason.text), "the tokens are not as long as their text");
}

int assay_tokenizer_encode_check(struct assay_job *job, struct assay_check *out)
{
	struct state *s = job->op_state;
	struct data d = data_of(job);
	int32_t *ids = malloc(job->tensors[ASSAY_TOKENIZER_IDS].bytes);
	uint8_t *text = malloc((size_t)d.bytes);
	int rc = 0;

	*out = (struct assay_check){ .size = out->size, .correct = 1, .max_rel_err = -1, .first_bad = -1 };
	if (ids && text)
		check_ids(out, s, &d, ids, text);
	else
		rc = job->host->fail(job, "not enough memory");
	free(ids);
	free(text);
	return rc;
}

int assay_tokenizer_decode_check(struct assay_job *job, struct assay_check *out)
{
	struct data d = data_of(job);
	uint8_t *want = malloc((size_t)d.bytes);

	if (!want)
		return job->host->fail(job, "not enough memory");
	*out = (struct assay_check){ .size = out->size, .correct = 1, .max_rel_err = -1, .first_bad = -1 };
	fill_text(job, want);
	compare_text(out, d.text, want, d.bytes);
	free(want);
	return 0;
}

int assay_tokenizer_report(struct assay_job *job)
{
	const struct state *s = job->op_state;
	const struct data d = data_of(job);
	const double n = (double)*d.count;

	job->host->metric(job, "text_tokens", n);
	job->host->metric(job, "bytes_per_token", (double)d.bytes / n);
	if (s->of.ns)
		job->host->metric(job, "text_tokens_per_s", n * (double)s->of.n_calls / ((double)s->of.ns * 1e-9));
	return 0;
}

/* ---- the variant ref ---- */

int assay_tokenizer_ref_supports(const struct assay_shape *shape, struct assay_reason *why)
{
	if (shape->axis[ASSAY_TOKENIZER_CACHE] == ASSAY_TOKENIZER_COLD)
		return 0;
	snprintf(why->text, sizeof(why->text), "ref has no word cache");
	return -1;
}

int assay_tokenizer_ref_encode(struct assay_job *job)
{
	const uint64_t begin_ns = job->host->now_ns();
	struct state *s = job->op_state;
	struct data d = data_of(job);

	memset(s->plain.counts, 0, sizeof(s->plain.counts));
	*d.count = assay_tokenizer_encode(&s->plain, d.text, d.bytes, false, d.ids);
	if (*d.count < 0)
		return job->host->fail(job, "not enough memory");
	for (uint32_t i = 0; i < ASSAY_TOKENIZER_N_COUNTERS; i++)
		assay_counter(job, i, s->plain.counts[i]);
	assay_tokenizer_ran(job, begin_ns);
	return 0;
}

int assay_tokenizer_ref_decode(struct assay_job *job)
{
	const uint64_t begin_ns = job->host->now_ns();
	const struct state *s = job->op_state;
	struct data d = data_of(job);

	if (assay_tokenizer_decode(&s->plain, d.ids, *d.count, false, d.text, d.bytes) != d.bytes)
		return job->host->fail(job, "the tokens are not those of %" PRId64 " bytes", d.bytes);
	assay_tokenizer_ran(job, begin_ns);
	return 0;
}
