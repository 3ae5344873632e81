/* SPDX-License-Identifier: Apache-2.0 */
/* stream.* with 256-bit vectors. */
#if defined(__x86_64__)
#include <immintrin.h>

#define VEC_BYTES          32
#define STORE_AROUND(p, v) _mm256_stream_ps(p, v)
#define STREAM_ISA         avx2

#include "stream_body.h"
#endif
