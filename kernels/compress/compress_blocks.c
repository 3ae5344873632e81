/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a case share its blocks; a block is one call of the library. */
#include <inttypes.h>
#include <stdio.h>

#include "compress_library.h"

struct compress_state {
	const struct compress_codec *codec;
	void *dl;
	int64_t failed;   /* a block that the library could not do; -1: none */
	void *contexts[]; /* one a thread; NULL: never opened */
};

/* A library that was found stays loaded, so that the many shapes of a suite pay for loading once. */
int compress_supports(const struct compress_codec *c, const struct assay_shape *shape, struct assay_reason *why)
{
	int64_t level = shape->axis[ASSAY_COMPRESS_LEVEL];

	if (c->most_level && level > c->most_level) {
		snprintf(why->text, sizeof(why->text), "level is %" PRId64 ", %s has levels up to %d", level,
			 c->library, c->most_level);
		return -1;
	}
	if (dlopen(c->library, RTLD_NOW | RTLD_LOCAL))
		return 0;
	snprintf(why->text, sizeof(why->text), "%s is missing, install %s (Debian, Ubuntu)", c->library, c->package);
	return -1;
}

void compress_release(struct assay_job *job)
{
	struct compress_state *s = job->state;

	for (uint32_t i = 0; i < job->n_threads; i++)
		if (s->contexts[i])
			s->codec->close(s->contexts[i]);
	dlclose(s->dl);
	free(s);
	job->state = NULL;
}

int compress_prepare(const struct compress_codec *c, struct assay_job *job)
{
	struct compress_state *s = calloc(1, sizeof(*s) + job->n_threads * sizeof(s->contexts[0]));

	if (!s)
		return job->host->fail(job, "not enough memory");
	s->codec = c;
	s->dl = dlopen(c->library, RTLD_NOW | RTLD_LOCAL);
	if (!s->dl) {
		free(s);
		return job->host->fail(job, "%s is missing, install %s", c->library, c->package);
	}
	job->state = s;
	for (uint32_t i = 0; i < job->n_threads; i++) {
		s->contexts[i] = c->open(s->dl, (int)job->shape->axis[ASSAY_COMPRESS_LEVEL]);
		if (!s->contexts[i]) {
			compress_release(job);
			return job->host->fail(job, "%s lacks a function, or memory is short", c->library);
		}
	}
	return 0;
}

static void share(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	struct compress_state *s = job->state;
	const struct compress_codec *c = s->codec;
	const int64_t bytes = job->shape->axis[ASSAY_COMPRESS_BYTES], block = job->shape->axis[ASSAY_COMPRESS_BLOCK];
	const int64_t n = assay_compress_blocks(bytes, block), slot = assay_compress_slot(block);
	uint8_t *x = job->tensors[ASSAY_COMPRESS_X].data, *packed = job->tensors[ASSAY_COMPRESS_PACKED].data;
	int64_t *sizes = job->tensors[ASSAY_COMPRESS_SIZES].data;

	for (int64_t i = n * tid / n_threads; i < n * (tid + 1) / n_threads; i++) {
		int64_t left = bytes - i * block, n_x = left < block ? left : block, done;

		if (c->decompresses) {
			done = c->code(s->contexts[tid], packed + i * slot, sizes[i], x + i * block, n_x);
		} else {
			done = c->code(s->contexts[tid], x + i * block, n_x, packed + i * slot, slot);
			sizes[i] = done;
		}
		if (done < 1 || (c->decompresses && done != n_x))
			__atomic_store_n(&s->failed, i, __ATOMIC_RELAXED);
	}
}

int compress_run(struct assay_job *job)
{
	struct compress_state *s = job->state;

	s->failed = -1;
	job->host->parallel(job, share, job);
	if (s->failed >= 0)
		return job->host->fail(job, "%s fails on block %" PRId64, s->codec->library, s->failed);
	return 0;
}
