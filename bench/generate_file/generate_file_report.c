/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics of generate.file. Runs are from ids to ids, as those of llama-bench are; what the tokenizer of the file
 * takes for such a prompt and answer is measured here, beside them.
 */
#include <stdlib.h>
#include <string.h>

#include "../generate_file_ops.h"
#include "generate_file_state.h"
#include "gguf/corpora.h"
#include "gguf/tokenizer.h"

#define REPEATS 15
/* Text like English has fewer bytes a token in any vocabulary. */
#define MOST_BYTES_PER_TOKEN 16

struct texts {
	const struct assay_job *job;
	struct assay_tokenizer tokenizer;
	struct gen_latencies *l; /* room to sort in */
	uint8_t *text;
	int64_t bytes; /* of all text */
	int32_t *ids;
};

/* The text of the prompt, or one like English. */
static void fill_text(struct texts *t)
{
	const char *prompt = getenv(ASSAY_PROMPT_VARIABLE);
	const size_t n = prompt ? strlen(prompt) : 0;

	if (!n)
		assay_corpus_bytes(t->job->seed, assay_corpus_named("text"), 0, t->text, t->bytes);
	for (int64_t i = 0; n && i < t->bytes; i++)
		t->text[i] = (uint8_t)prompt[(size_t)i % n];
}

/* The bytes at the beginning of the text that @n tokens take. */
static int64_t bytes_of_tokens(struct texts *t, int64_t n)
{
	const int64_t all = assay_tokenizer_encode(&t->tokenizer, t->text, t->bytes, false, t->ids);
	const int64_t bytes = all < n ? t->bytes : assay_tokenizer_decode(&t->tokenizer, t->ids, n, false, NULL, 0);

	return bytes > 0 && bytes < t->bytes ? bytes : t->bytes;
}

static void report_texts(struct texts *t)
{
	const struct assay_job *job = t->job;
	const int32_t *answer = job->tensors[ASSAY_FILE_T_TOKENS].data;
	const int64_t pp = job->shape->axis[ASSAY_FILE_AXIS_PP], tg = job->shape->axis[ASSAY_FILE_AXIS_TG];
	struct gen_ring encode_s = { .n = 0 }, decode_s = { .n = 0 };
	int64_t bytes;

	fill_text(t);
	bytes = bytes_of_tokens(t, pp);
	for (int i = 0; i < REPEATS; i++) {
		const uint64_t begin_ns = job->host->now_ns();
		uint64_t between_ns;

		assay_tokenizer_encode(&t->tokenizer, t->text, bytes, false, t->ids);
		between_ns = job->host->now_ns();
		assay_tokenizer_decode(&t->tokenizer, answer, tg, false, t->text, bytes);
		assay_generate_ring_push(&encode_s, (double)(between_ns - begin_ns) * 1e-9);
		assay_generate_ring_push(&decode_s, (double)(job->host->now_ns() - between_ns) * 1e-9);
		fill_text(t);
	}
	job->host->metric(job, "encode_s", assay_generate_ring_median(&encode_s, t->l->sorted));
	job->host->metric(job, "decode_s", assay_generate_ring_median(&decode_s, t->l->sorted));
}

/* A file without a tokenizer, or with one that is not known, has neither metric. */
static int report_tokenizer(const struct assay_job *job)
{
	struct texts t = { .job = job, .bytes = MOST_BYTES_PER_TOKEN * job->shape->axis[ASSAY_FILE_AXIS_PP] };
	struct file_state *s = job->op_state;
	struct tokenizer_vocab vocab = { .bytes = NULL };
	struct assay_reason why = { "" };
	int rc = 0;

	if (assay_vocab_read(&vocab, &s->file.gguf, &why))
		return 0;
	t.l = &s->took;
	t.text = malloc((size_t)t.bytes);
	t.ids = malloc((size_t)assay_tokenizer_most_ids(vocab.v.model, t.bytes) * sizeof(*t.ids));
	if (!t.text || !t.ids || assay_tokenizer_init(&t.tokenizer, &vocab.v, &why))
		rc = job->host->fail(job, "cannot measure the tokenizer: out of memory");
	else
		report_texts(&t);
	assay_tokenizer_release(&t.tokenizer);
	free(t.text);
	free(t.ids);
	assay_vocab_release(&vocab);
	return rc;
}

int assay_generate_file_report(struct assay_job *job)
{
	struct file_state *s = job->op_state;
	const struct assay_file_model *m = &s->state.model;

	job->host->metric(job, "model_bytes", assay_file_model_bytes(&s->file.gguf));
	job->host->metric(job, "kv_bytes",
			  8.0 * (double)m->layers * (double)m->kv_heads * (double)m->head_dim *
				  (double)s->state.max_pos);
	assay_generate_report_latencies(
		job, &s->took, job->shape->axis[ASSAY_FILE_AXIS_PP] + job->shape->axis[ASSAY_FILE_AXIS_TG] - 1);
	return report_tokenizer(job);
}
