/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of assay/op_quantize.h from floats with AVX-512, 16 at a time. */
#if defined(__x86_64__)
#include "quantize_x86.h"

#define QUANTIZE_ISA avx512
#include "quantize_body.h"
#endif
