/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.q8_0 and matmul.q6_k in plain C */
#define Q8_0 assay_matmul_q8_0_ref
#define Q6_K assay_matmul_q6_k_ref
#include "matmul_blocks_body.h"
