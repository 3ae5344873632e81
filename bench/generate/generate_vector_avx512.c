/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of sixteen floats. */
#if defined(__x86_64__)
#define VEC          16
#define VECTOR_TABLE assay_generate_vector_avx512
#include "generate_vector_body.h"
#endif
