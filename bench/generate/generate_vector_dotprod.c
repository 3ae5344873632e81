/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of four floats, with dot products of eight bits for heads in blocks. */
#if defined(__aarch64__)
#define VEC          4
#define VECTOR_TABLE assay_generate_vector_dotprod
#include "generate_vector_body.h"
#endif
