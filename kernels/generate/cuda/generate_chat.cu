// SPDX-License-Identifier: Apache-2.0
// generate.chat on a GPU. Which blocks of the KV cache a request finds follows from the prompt alone, so prepare()
// plans all requests, and a run is enqueued without waiting for a token. A request begins with a kernel that puts its
// prompt together, from messages and the replies so far, and its table of blocks in place.
#include <stdlib.h>

#include "generate_run.cuh"

// The token of a position: system prompt, then messages and replies in turn.
static __device__ __forceinline__ int32_t token_at(const generate_cuda &g, int64_t user, int64_t position)
{
	const int64_t behind = position - g.s.system, each = g.s.message + g.s.reply;
	const int64_t at = user * g.s.turns + behind / each, within = behind % each;

	if (behind < 0)
		return g.prompts[position];
	return within < g.s.message ? g.prompts[g.s.system + at * g.s.message + within]
				    : g.tokens[at * g.s.reply + within - g.s.message];
}

CUDA_KERNEL(generate_request)(generate_cuda g, int32_t *prompt, int64_t number)
{
	const assay_generate_request &request = g.requests[number];

	for (int64_t i = threadIdx.x; i < request.prompt; i += blockDim.x)
		prompt[i] = token_at(g, request.user, i);
	for (int64_t i = threadIdx.x; i < g.s.table_len; i += blockDim.x)
		g.table[i] = g.tables[number * g.s.table_len + i];
	if (threadIdx.x)
		return;
	g.at->prompt = request.prompt;
	g.at->step = 0;
	g.at->out = (request.user * g.s.turns + request.turn) * g.s.reply;
	g.at->clock = number * (g.s.reply + 1);
	g.at->last = number + 1 == g.s.users * g.s.turns ? g.s.reply - 1 : -1;
	g.at->best = 0;
	if (number)
		g.times->ns[g.at->clock] = cuda_now_ns();
}

// ---- prepare ----

// Plan from the prompt as it lies on the device; @tables has room for all.
static int plan(struct assay_job *job, int32_t *prompt, int32_t *tables)
{
	generate_run *r = generate_run_of(job);
	const assay_generate_state &s = r->g.s;
	const size_t requests = (size_t)(s.users * s.turns);
	const struct assay_tensor *t = &job->tensors[ASSAY_GENERATE_T_PROMPT];
	cudaError_t rc = cudaMemcpy(prompt, t->data, (size_t)t->bytes, cudaMemcpyDeviceToHost);

	if (rc != cudaSuccess)
		return assay_generate_failed_cuda(job, "cannot read the prompt", rc);
	if (s.requests(job, prompt, r->requests, tables, r->counters)) {
		assay_generate_release_cuda(job);
		return -1;
	}
	rc = cudaMemcpy((void *)r->g.requests, r->requests, requests * sizeof(*r->requests), cudaMemcpyHostToDevice);
	if (rc == cudaSuccess)
		rc = cudaMemcpy((void *)r->g.tables, tables, requests * (size_t)s.table_len * sizeof(*tables),
				cudaMemcpyHostToDevice);
	if (rc == cudaSuccess)
		rc = cudaDeviceSynchronize();
	return rc == cudaSuccess ? 0 : assay_generate_failed_cuda(job, "cannot upload requests", rc);
}

int assay_generate_chat_prepare_cuda(struct assay_job *job)
{
	int rc = assay_generate_open_cuda(job);
	int32_t *prompt, *tables;
	generate_run *r;
	size_t requests;

	if (rc)
		return rc;
	r = generate_run_of(job);
	requests = (size_t)(r->g.s.users * r->g.s.turns);
	prompt = (int32_t *)malloc((size_t)job->tensors[ASSAY_GENERATE_T_PROMPT].bytes);
	tables = (int32_t *)calloc(requests * (size_t)r->g.s.table_len, sizeof(*tables));
	r->requests = (assay_generate_request *)calloc(requests, sizeof(*r->requests));
	if (prompt && tables && r->requests)
		rc = plan(job, prompt, tables);
	else
		rc = assay_generate_failed_cuda(job, "cannot plan the requests", cudaErrorMemoryAllocation);
	free(prompt);
	free(tables);
	return rc ? rc : assay_generate_capture_cuda(job);
}

// ---- run ----

// Enqueue the answer to a message; how many steps read its prompt.
static uint64_t enqueue_request(const struct assay_job *job, int64_t number, cudaError_t *rc)
{
	const generate_run *r = generate_run_of(job);
	const assay_generate_request &request = r->requests[number];
	uint64_t steps;

	CUDA_LAUNCH(job, generate_request, 1, r->g, (int32_t *)r->g.prompt, number);
	steps = assay_generate_prompt_cuda(job, r->g, request.known, request.prompt);
	for (int64_t i = 1; i < r->g.s.reply && *rc == cudaSuccess; i++)
		*rc = cudaGraphLaunch(r->graph, cuda_stream_of(job));
	return steps;
}

int assay_generate_chat_cuda(struct assay_job *job)
{
	const generate_run *r = generate_run_of(job);
	const assay_generate_state &s = r->g.s;
	const int64_t requests = s.users * s.turns;
	uint64_t steps = 0, read = 0;
	const uint64_t generated = (uint64_t)(requests * (s.reply - 1));
	cudaError_t rc = cudaSuccess;

	assay_generate_tell_cuda(job);
	assay_generate_begin_cuda(job, r->g, 0, -1);
	for (int64_t i = 0; i < requests && rc == cudaSuccess; i++) {
		steps += enqueue_request(job, i, &rc);
		read += (uint64_t)(r->requests[i].prompt - r->requests[i].known);
	}
	if (rc != cudaSuccess)
		return job->host->fail(job, "cannot launch the graph of a step: %s", cudaGetErrorString(rc));
	assay_counter(job, ASSAY_GENERATE_KV_LOOKUPS, r->counters[0]);
	assay_counter(job, ASSAY_GENERATE_KV_HITS, r->counters[1]);
	assay_counter(job, ASSAY_GENERATE_KV_MISSES, r->counters[0] - r->counters[1]);
	assay_counter(job, ASSAY_GENERATE_KV_EVICTIONS, r->counters[2]);
	assay_counter(job, ASSAY_GENERATE_PREFILL_STEPS, steps);
	assay_counter(job, ASSAY_GENERATE_DECODE_STEPS, generated);
	assay_counter(job, ASSAY_GENERATE_TOKENS, read + generated);
	return cuda_launched(job);
}
