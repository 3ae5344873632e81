/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs whose spec says how they are filled, made in host memory. */
#ifndef INPUT_FILL_H
#define INPUT_FILL_H

#include "assay/plugin.h"

/* The matrix @name of normally distributed floats, which assay_input_fill() draws from @stream. */
struct assay_tensor_spec assay_input_normal_f32(const char *name, uint32_t stream, int64_t rows, int64_t columns);
/* Fill every input of @job that assay/inputs.h can make, on all threads of the job. The others are the op's. */
void assay_input_fill(struct assay_job *job);

#endif
