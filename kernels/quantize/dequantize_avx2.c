/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of assay/op_quantize.h back to floats with AVX2 and F16C. */
#if defined(__x86_64__)
#include "dequantize_x86.h"

#define DEQUANTIZE_ISA avx2
#include "dequantize_body.h"
#endif
