/* SPDX-License-Identifier: Apache-2.0 */
/* generate.file: vectors of sixteen floats */
#if defined(__x86_64__)
#define PREPARE assay_generate_file_prepare_avx512
#include "generate_file_body.h"
#endif
