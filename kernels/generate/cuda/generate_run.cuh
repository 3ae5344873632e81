/* SPDX-License-Identifier: Apache-2.0 */
/* A generate case on a GPU, as the host sees it: its memory, its step as a graph, its times. */
#ifndef GENERATE_RUN_CUH
#define GENERATE_RUN_CUH

#include "generate_cuda.cuh"

struct generate_run {
	struct generate_cuda g;
	void *memory;            // of the device: all buffers of a step
	cudaGraphExec_t graph;   // decode and chat: one step
	unsigned long long told; // the latest run whose times are told

	// Chat: what the device has, too.
	assay_generate_request *requests;
	uint64_t counters[3]; // lookups, hits, evictions of a run
};

static inline generate_run *generate_run_of(const struct assay_job *job)
{
	return (generate_run *)job->state;
}

// 0, or negative after host->fail, with nothing left open.
int assay_generate_open_cuda(struct assay_job *job);
// What a callback returns that could not do @what: all is released.
int assay_generate_failed_cuda(struct assay_job *job, const char *what, cudaError_t rc);
// Enqueue tokens @from … @end - 1 of the prompt in steps of the batch, and the token that follows; how many steps.
uint64_t assay_generate_prompt_cuda(const struct assay_job *job, const generate_cuda &g, int64_t from, int64_t end);
// Wait for what is enqueued, then capture the step that reads the latest token and generates one.
int assay_generate_capture_cuda(struct assay_job *job);
// Tell the times of the latest run that has ended, unless another one has begun to write its own.
void assay_generate_tell_cuda(const struct assay_job *job);

#endif
