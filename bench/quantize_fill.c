/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of the quantize and dequantize ops; assay/op_quantize_inputs.h says what they are. */
#include "assay/op_quantize_inputs.h"
#include "input_fill.h"
#include "quantize_ops.h"

int assay_quantize_fill(struct assay_job *job)
{
	assay_input_fill(job);
	return 0;
}

/* All codes share one scale, which no spec describes. */
int assay_dequantize_i2_s_fill(struct assay_job *job)
{
	float *scale = job->tensors[ASSAY_DEQUANTIZE_SCALE].data;

	*scale = ASSAY_INPUT_SIGMA *
		 (0.5f + assay_uniform_f32(assay_random4(job->seed, ASSAY_DEQUANTIZE_SCALE, 0).v[0]));
	return assay_quantize_fill(job);
}
