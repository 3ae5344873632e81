/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.q8_0 and matmul.q6_k: vectors of 128 bits, and dot products of eight bits */
#if defined(__aarch64__)
#define Q8_0 assay_matmul_q8_0_neon_dotprod
#define Q6_K assay_matmul_q6_k_neon_dotprod
#include "matmul_blocks_body.h"
#endif
