/* SPDX-License-Identifier: Apache-2.0 */
/* The op's state of generate.file; variants see its first member. */
#ifndef ASSAY_GENERATE_FILE_STATE_H
#define ASSAY_GENERATE_FILE_STATE_H

#include "../generate/generate_stats.h"
#include "generate_file_model.h"

struct file_state {
	struct assay_file_state state;
	struct file_model file;
	struct gen_latencies took;
	uint64_t forward_ns, sampling_ns; /* of the run under way */
	int64_t n_known;                  /* tokens whose keys and values the cache has */
	int32_t tokens[];                 /* of the sequence, max_pos of them */
};

int assay_generate_file_play(struct assay_job *job);

#endif
