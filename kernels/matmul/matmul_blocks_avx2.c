/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.q8_0 and matmul.q6_k: vectors of 256 bits */
#if defined(__x86_64__)
#define Q8_0 assay_matmul_q8_0_avx2
#define Q6_K assay_matmul_q6_k_avx2
#include "matmul_blocks_body.h"
#endif
