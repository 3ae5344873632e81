/* SPDX-License-Identifier: Apache-2.0 */
/* A CUPTI from before CUDA 12.6, which watches kernels and knows no ranges. */
#define CUPTI_STANDIN_OLDER
#include "cupti_standin.c"
