/* SPDX-License-Identifier: Apache-2.0 */
/* The same, with dot products of eight bits for heads in blocks. */
#if defined(__x86_64__)
#define VEC          16
#define VECTOR_TABLE assay_generate_vector_avx512vnni
#include "generate_vector_body.h"
#endif
