/* SPDX-License-Identifier: Apache-2.0 */
/* stream.* with 512-bit vectors. */
#if defined(__x86_64__)
#include <immintrin.h>

#define VEC_BYTES          64
#define STORE_AROUND(p, v) _mm512_stream_ps(p, v)
#define STREAM_ISA         avx512

#include "stream_body.h"
#endif
