/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of eight floats. */
#if defined(__x86_64__)
#define VEC          8
#define VECTOR_TABLE assay_generate_vector_avx2
#include "generate_vector_body.h"
#endif
