/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of assay/op_quantize.h back to floats with AVX-512. */
#if defined(__x86_64__)
#include "dequantize_x86.h"

#define DEQUANTIZE_ISA avx512
#include "dequantize_body.h"
#endif
