/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates come off a binary heap in order, as many as are needed: linear work to build it, and no sort of a whole
 * vocabulary. Top-k normalises over the k kept, top-p cuts the distribution over the whole vocabulary and then the set.
 */
#include "generate_engine.h"

#include <string.h>

#include "assay/random.h"

static int before(const float *logits, int32_t a, int32_t b)
{
	return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
}

static void sift_down(const float *logits, int32_t *heap, int32_t n, int32_t at)
{
	int32_t id = heap[at];

	for (int32_t child = 2 * at + 1; child < n; at = child, child = 2 * at + 1) {
		if (child + 1 < n && before(logits, heap[child + 1], heap[child]))
			child++;
		if (!before(logits, heap[child], id))
			break;
		heap[at] = heap[child];
	}
	heap[at] = id;
}

/* Take the first candidate off; it moves behind the heap's end, so that heap[n - 1], heap[n - 2], … hold the taken. */
static void pop(const float *logits, int32_t *heap, int32_t n)
{
	int32_t first = heap[0];

	heap[0] = heap[n - 1];
	heap[n - 1] = first;
	sift_down(logits, heap, n - 1, 0);
}

static int32_t greedy(const float *logits, int32_t vocab)
{
	int32_t best = 0;

	for (int32_t i = 1; i < vocab; i++)
		if (logits[i] > logits[best])
			best = i;
	return best;
}

int32_t assay_generate_sample(const struct gen_sampling *s, const float *logits, int32_t vocab, int64_t position,
			      float *probs, int32_t *heap)
{
	float total, kept = 0, target, sum = 0;
	int32_t n = 0;

	if (s->kind == ASSAY_GENERATE_GREEDY)
		return greedy(logits, vocab);

	memcpy(probs, logits, (size_t)vocab * sizeof(*probs));
	total = s->vector->softmax(probs, vocab, 1.0f / s->temperature);
	for (int32_t i = 0; i < vocab; i++)
		heap[i] = i;
	for (int32_t i = vocab / 2 - 1; i >= 0; i--)
		sift_down(logits, heap, vocab, i);

	while (n < vocab && (s->kind == ASSAY_GENERATE_TOPK ? n < s->top_k : n == 0 || kept < s->top_p * total)) {
		pop(logits, heap, vocab - n);
		n++;
		kept += probs[heap[vocab - n]];
	}
	target = assay_uniform_f32(assay_random4(s->seed, ASSAY_GENERATE_SAMPLER_STREAM, (uint64_t)position).v[0]) *
		 kept;
	for (int32_t i = 1; i < n; i++) {
		sum += probs[heap[vocab - i]];
		if (target < sum)
			return heap[vocab - i];
	}
	return heap[vocab - n];
}
