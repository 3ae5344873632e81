/* SPDX-License-Identifier: Apache-2.0 */
/* Units of an input are dealt out in equal parts; what they are is in assay/inputs.h. */
#include "input_fill.h"

#include "assay/inputs.h"

struct assay_tensor_spec assay_input_normal_f32(const char *name, uint32_t stream, int64_t rows, int64_t columns)
{
	return (struct assay_tensor_spec){
		.name = name,
		.role = ASSAY_INPUT,
		.dtype = ASSAY_F32,
		.rank = 2,
		.dims = { rows, columns },
		.filled = ASSAY_FILLED_NORMAL_F32,
		.filled_stream = stream,
		.filled_scale = 1,
	};
}

struct filling {
	struct assay_input input;
	void *data;
};

static void fill_part(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct filling *f = arg;
	const uint64_t n = f->input.units;

	for (uint64_t unit = n * tid / n_threads; unit < n * (tid + 1) / n_threads; unit++)
		assay_input_make(&f->input, unit, f->data);
}

void assay_input_fill(struct assay_job *job)
{
	for (uint32_t i = 0; i < job->n_tensors; i++) {
		const struct assay_tensor *t = &job->tensors[i];
		struct filling f = { .data = t->data };

		if (t->spec->role == ASSAY_INPUT && !assay_input_init(&f.input, t->spec, t->bytes, job->seed))
			job->host->parallel(job, fill_part, &f);
	}
}
