/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of four floats, which SSE2 and NEON have, and the choice among the tables. */
#define VEC          4
#define VECTOR_TABLE assay_generate_vector_base
#define VECTOR_NAME  "base"
#include "generate_vector_body.h"

const struct gen_vector *assay_generate_vector(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		return &assay_generate_vector_avx512;
	if (__builtin_cpu_supports("avx2"))
		return &assay_generate_vector_avx2;
#endif
	return &assay_generate_vector_base;
}
