// SPDX-License-Identifier: Apache-2.0
// The life of a generate case on a GPU, and the order of a step. Decode captures one step as a graph, in which nothing
// changes from step to step but what the device itself counts, and replays it for each token.
#include <stdlib.h>

#include "cuda/cuda_ternary.cuh"
#include "generate_run.cuh"

int assay_generate_failed_cuda(struct assay_job *job, const char *what, cudaError_t rc)
{
	assay_generate_release_cuda(job);
	return job->host->fail(job, "%s: %s", what, cudaGetErrorString(rc));
}

#define failed assay_generate_failed_cuda

// ---- memory ----

static uint64_t take(uint64_t *at, uint64_t bytes)
{
	const uint64_t begin = *at;

	*at += (bytes + 255) & ~(uint64_t)255;
	return begin;
}

// Where a step's buffers lie from @base on; their bytes.
static uint64_t lay_out(generate_cuda *g, uint8_t *base)
{
	const struct assay_generate_state &s = g->s;
	const int64_t q = (int64_t)s.heads * s.head_dim, qkv = q + 2 * (int64_t)s.kv_heads * s.head_dim;
	const int64_t wide = qkv > 2 * s.ffn ? qkv : 2 * s.ffn, row = s.ffn > q ? s.ffn : q;
	const uint64_t requests = (uint64_t)(s.users * s.turns);
	const uint64_t n = (uint64_t)s.batch, sampled = s.sampler == ASSAY_GENERATE_GREEDY ? 0 : (uint64_t)s.vocab;
	uint64_t at = 0;

	g->resid = (float *)(base + take(&at, n * s.dim * 4));
	g->y = (float *)(base + take(&at, n * (wide > s.dim ? wide : s.dim) * 4));
	g->att = (float *)(base + take(&at, n * q * 4));
	g->x_scale = (float *)(base + take(&at, n * 4));
	g->normed = (float *)(base + take(&at, (uint64_t)s.dim * 4));
	g->x = (int8_t *)(base + take(&at, n * (row > s.dim ? row : s.dim)));
	g->head_x = (int8_t *)(base + take(&at, (uint64_t)s.dim));
	g->head_scale = (float *)(base + take(&at, (uint64_t)s.dim / 32 * 4));
	g->head_sums = (int16_t *)(base + take(&at, (uint64_t)s.dim / 16 * 2));
	g->slots = (int32_t *)(base + take(&at, (uint64_t)s.max_pos * 4));
	g->at = (generate_progress *)(base + take(&at, sizeof(*g->at)));
	g->probs = (float *)(base + take(&at, 2 * sampled * 4));
	g->keys = (uint32_t *)(base + take(&at, 2 * sampled * 4));
	g->ids = (uint32_t *)(base + take(&at, 2 * sampled * 4));
	if (s.users) {
		g->requests = (assay_generate_request *)(base + take(&at, requests * sizeof(*g->requests)));
		g->tables = (int32_t *)(base + take(&at, requests * s.table_len * 4));
		g->prompt = (int32_t *)(base + take(&at, s.max_pos * 4));
	}
	return at;
}

static void point(generate_cuda *g, const struct assay_job *job)
{
	g->weights = cuda_tensor<uint8_t>(job, ASSAY_GENERATE_T_WEIGHTS);
	g->scales = cuda_tensor<float>(job, ASSAY_GENERATE_T_SCALES);
	g->embedding = cuda_tensor<uint8_t>(job, ASSAY_GENERATE_T_EMBEDDING);
	g->head = g->embedding + g->s.head_at;
	g->norms = cuda_tensor<float>(job, ASSAY_GENERATE_T_NORMS);
	g->rope = cuda_tensor<float>(job, ASSAY_GENERATE_T_ROPE);
	g->prompt = g->prompts = cuda_tensor<int32_t>(job, ASSAY_GENERATE_T_PROMPT);
	g->tokens = cuda_tensor<int32_t>(job, ASSAY_GENERATE_T_TOKENS);
	g->logits = cuda_tensor<float>(job, ASSAY_GENERATE_T_LOGITS);
	g->trace_i8 = cuda_tensor<int8_t>(job, ASSAY_GENERATE_T_TRACE_I8);
	g->trace_f32 = cuda_tensor<float>(job, ASSAY_GENERATE_T_TRACE_F32);
	g->trace_last = cuda_tensor<float>(job, ASSAY_GENERATE_T_TRACE_LAST);
	g->kv = cuda_tensor<uint16_t>(job, ASSAY_GENERATE_T_KV);
	g->table = cuda_tensor<int32_t>(job, ASSAY_GENERATE_T_WORK_I32) + g->s.table_at;
	g->seed = job->seed;
}

// Rows, heads and scores have room in registers and shared memory up to these sizes. 0, or negative after host->fail.
static int refuse_large(struct assay_job *job, const struct assay_generate_state &s)
{
	const struct {
		const char *what;
		int64_t is, most;
	} sizes[] = {
		{ "dim", s.dim, GENERATE_MAX_DIM },
		{ "heads x head_dim", (int64_t)s.heads * s.head_dim, GENERATE_MAX_DIM },
		{ "head_dim", s.head_dim, GENERATE_MAX_HEAD },
		{ "ffn", s.ffn, GENERATE_MAX_ROW },
		{ "tokens", s.max_pos, GENERATE_MAX_CONTEXT },
	};

	for (const auto &size : sizes)
		if (size.is > size.most) {
			assay_generate_release_cuda(job);
			return job->host->fail(job, "the model has %s = %lld, the kernels take up to %lld", size.what,
					       (long long)size.is, (long long)size.most);
		}
	return 0;
}

// The sequence has the blocks of the pool in order, and its traced positions their slots.
static cudaError_t upload_tables(const generate_cuda &g)
{
	const int64_t blocks = g.s.pool_tokens / ASSAY_GENERATE_KV_BLOCK;
	int32_t *v = (int32_t *)malloc((size_t)(g.s.max_pos > blocks ? g.s.max_pos : blocks) * sizeof(*v));
	cudaError_t rc;

	if (!v)
		return cudaErrorMemoryAllocation;
	for (int64_t i = 0; i < blocks; i++)
		v[i] = (int32_t)i;
	rc = cudaMemcpy(g.table, v, (size_t)blocks * sizeof(*v), cudaMemcpyHostToDevice);
	for (int64_t i = 0; i < g.s.max_pos; i++)
		v[i] = -1;
	for (int32_t slot = 0; slot < (int32_t)g.s.n_slots; slot++)
		v[assay_generate_slot_position(&g.s, slot)] = slot;
	if (rc == cudaSuccess)
		rc = cudaMemcpy(g.slots, v, (size_t)g.s.max_pos * sizeof(*v), cudaMemcpyHostToDevice);
	free(v);
	return rc;
}

// Bytes of the times of a run.
static size_t times_of(const struct assay_generate_state &s)
{
	const int64_t n = s.users ? s.users * s.turns * (s.reply + 1) : s.generated + 2;

	return sizeof(struct generate_times) + (size_t)n * sizeof(unsigned long long);
}

int assay_generate_open_cuda(struct assay_job *job)
{
	const struct assay_generate_state *s = (const struct assay_generate_state *)job->op_state;
	generate_run *r = (generate_run *)calloc(1, sizeof(*r));
	const size_t times = times_of(*s);
	cudaError_t rc;

	if (!r)
		return job->host->fail(job, "out of memory");
	job->state = r;
	if (s->size < sizeof(*s))
		return failed(job, "the op is older than this plugin", cudaErrorNotSupported);
	r->g.s = *s;
	if (refuse_large(job, *s))
		return -1;
	point(&r->g, job);
	rc = cudaMalloc(&r->memory, (size_t)lay_out(&r->g, NULL));
	if (rc == cudaSuccess)
		rc = cudaMemset(r->memory, 0, (size_t)lay_out(&r->g, (uint8_t *)r->memory));
	if (rc == cudaSuccess)
		rc = cudaHostAlloc((void **)&r->g.times, times, cudaHostAllocMapped);
	if (rc != cudaSuccess)
		return failed(job, "cannot allocate a step's buffers", rc);
	memset(r->g.times, 0, times);
	rc = upload_tables(r->g);
	if (rc == cudaSuccess)
		rc = cudaDeviceSynchronize();
	return rc == cudaSuccess ? 0 : failed(job, "cannot upload tables", rc);
}

void assay_generate_release_cuda(struct assay_job *job)
{
	generate_run *r = generate_run_of(job);

	if (!r)
		return;
	if (r->graph)
		cudaGraphExecDestroy(r->graph);
	if (r->g.times)
		cudaFreeHost(r->g.times);
	cudaFree(r->memory);
	free(r->requests);
	free(r);
	job->state = NULL;
}

// ---- a step ----

// @count matrices that lie behind each other, from @matrix on, make one product.
static void multiply(const struct assay_job *job, const generate_cuda &g, const generate_step &to, int matrix,
		     int count)
{
	struct ternary_cuda p;

	p.w = g.weights + to.layer * g.s.layer_bytes + g.s.matrix_at[matrix];
	p.w_scale = g.scales + to.layer * ASSAY_GENERATE_N_MATRICES + matrix;
	p.x = g.x;
	p.x_scale = g.x_scale;
	p.y = g.y;
	p.k = g.s.cols[matrix];
	p.n = to.n;
	p.m = 0;
	p.second = p.third = INT64_MAX;
	for (int i = 0; i < count; i++) {
		if (i == 1)
			p.second = p.m;
		if (i == 2)
			p.third = p.m;
		p.m += g.s.rows[matrix + i];
	}
	assay_ternary_enqueue_cuda(job, p);
}

// Of several tokens.
static void enqueue_layers(const struct assay_job *job, const generate_cuda &g, generate_step to)
{
	for (; to.layer < g.s.layers; to.layer++) {
		assay_generate_norm_cuda(job, g, to, ASSAY_GENERATE_NORM_ATTN);
		multiply(job, g, to, ASSAY_GENERATE_WQ, 3);
		assay_generate_rope_cuda(job, g, to);
		assay_generate_attend_cuda(job, g, to);
		assay_generate_norm_cuda(job, g, to, ASSAY_GENERATE_NORM_ATTN_SUB);
		multiply(job, g, to, ASSAY_GENERATE_WO, 1);
		assay_generate_norm_cuda(job, g, to, ASSAY_GENERATE_NORM_FFN);
		multiply(job, g, to, ASSAY_GENERATE_WGATE, 2);
		assay_generate_norm_cuda(job, g, to, ASSAY_GENERATE_NORM_FFN_SUB);
		multiply(job, g, to, ASSAY_GENERATE_WDOWN, 1);
	}
	assay_generate_last_cuda(job, g, to);
}

static void enqueue_step(const struct assay_job *job, const generate_cuda &g, int64_t first, int32_t n, int last)
{
	const generate_step to = { 0, n, first };

	if (n == 1)
		assay_generate_token_cuda(job, g, first);
	else
		enqueue_layers(job, g, to);
	if (last) {
		assay_generate_head_cuda(job, g);
		assay_generate_choose_cuda(job, g, to);
	}
}

uint64_t assay_generate_prompt_cuda(const struct assay_job *job, const generate_cuda &g, int64_t from, int64_t end)
{
	uint64_t steps = 0;

	for (int64_t at = from; at < end; at += g.s.batch, steps++) {
		const int64_t n = end - at < g.s.batch ? end - at : g.s.batch;

		enqueue_step(job, g, at, (int32_t)n, at + n == end);
	}
	return steps;
}

// Times of a sequence that begins at @ns, with @tokens behind the one that its prompt predicts. Decode has that one
// from elsewhere: its time is the begin's.
static void tell_sequence(const struct assay_job *job, const volatile unsigned long long *ns, int64_t tokens)
{
	const assay_generate_state &s = generate_run_of(job)->g.s;
	unsigned long long before = ns[s.generated ? 0 : 1];

	if (!s.generated)
		s.took(job, ASSAY_GENERATE_FIRST_TOKEN, (double)(before - ns[0]) * 1e-9);
	for (int64_t i = 2; i < tokens + 2; i++) {
		s.took(job, ASSAY_GENERATE_NEXT_TOKEN, (double)(ns[i] - before) * 1e-9);
		before = ns[i];
	}
}

void assay_generate_tell_cuda(const struct assay_job *job)
{
	generate_run *r = generate_run_of(job);
	const assay_generate_state &s = r->g.s;
	const volatile generate_times *t = r->g.times;
	const unsigned long long done = t->done;
	const int64_t sequences = s.users ? s.users * s.turns : 1;
	const int64_t tokens = s.users ? s.reply - 1 : s.generated; // behind the first of a sequence

	if (done == r->told || t->begun != done)
		return;
	r->told = done;
	s.took(job, ASSAY_GENERATE_RUN, (double)(t->ns[sequences * (tokens + 2) - 1] - t->ns[0]) * 1e-9);
	for (int64_t i = 0; i < sequences; i++)
		tell_sequence(job, t->ns + i * (tokens + 2), tokens);
}

// ---- prefill ----

int assay_generate_prefill_prepare_cuda(struct assay_job *job)
{
	return assay_generate_open_cuda(job);
}

int assay_generate_prefill_cuda(struct assay_job *job)
{
	const generate_cuda &g = generate_run_of(job)->g;

	assay_generate_tell_cuda(job);
	assay_generate_begin_cuda(job, g, 0, 0);
	assay_counter(job, ASSAY_GENERATE_PREFILL_STEPS, assay_generate_prompt_cuda(job, g, 0, g.s.prompt));
	assay_counter(job, ASSAY_GENERATE_TOKENS, (uint64_t)g.s.prompt);
	return cuda_launched(job);
}

// ---- decode ----

static cudaError_t capture_step(const struct assay_job *job, generate_run *r)
{
	cudaGraph_t graph = NULL;
	cudaError_t rc = cudaStreamBeginCapture(cuda_stream_of(job), cudaStreamCaptureModeThreadLocal), end;

	if (rc != cudaSuccess)
		return rc;
	enqueue_step(job, r->g, GENERATE_NEXT, 1, 1);
	rc = cudaGetLastError();
	end = cudaStreamEndCapture(cuda_stream_of(job), &graph);
	if (rc == cudaSuccess)
		rc = end;
	if (rc == cudaSuccess)
		rc = cudaGraphInstantiate(&r->graph, graph, 0);
	if (graph)
		cudaGraphDestroy(graph);
	return rc;
}

int assay_generate_capture_cuda(struct assay_job *job)
{
	cudaError_t rc = cudaGetLastError();

	if (rc == cudaSuccess)
		rc = cudaStreamSynchronize(cuda_stream_of(job));
	if (rc != cudaSuccess)
		return failed(job, "cannot read the prompt", rc);
	rc = capture_step(job, generate_run_of(job));
	return rc == cudaSuccess ? 0 : failed(job, "cannot capture a step as a graph", rc);
}

int assay_generate_decode_prepare_cuda(struct assay_job *job)
{
	const int status = assay_generate_open_cuda(job);

	if (status)
		return status;
	assay_generate_begin_cuda(job, generate_run_of(job)->g, 0, -1);
	assay_generate_prompt_cuda(job, generate_run_of(job)->g, 0, generate_run_of(job)->g.s.prompt);
	return assay_generate_capture_cuda(job);
}

int assay_generate_decode_cuda(struct assay_job *job)
{
	const generate_run *r = generate_run_of(job);
	cudaError_t rc = cudaSuccess;

	assay_generate_tell_cuda(job);
	assay_generate_begin_cuda(job, r->g, 1, r->g.s.generated);
	for (int64_t i = 0; i < r->g.s.generated && rc == cudaSuccess; i++)
		rc = cudaGraphLaunch(r->graph, cuda_stream_of(job));
	if (rc != cudaSuccess)
		return job->host->fail(job, "cannot launch the graph of a step: %s", cudaGetErrorString(rc));
	assay_counter(job, ASSAY_GENERATE_DECODE_STEPS, (uint64_t)r->g.s.generated);
	assay_counter(job, ASSAY_GENERATE_TOKENS, (uint64_t)r->g.s.generated);
	return cuda_launched(job);
}
