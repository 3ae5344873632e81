/* SPDX-License-Identifier: Apache-2.0 */
/* generate.file: vectors of sixteen floats, and dot products of eight bits */
#if defined(__x86_64__)
#define PREPARE assay_generate_file_prepare_avx512vnni
#include "generate_file_body.h"
#endif
