/* SPDX-License-Identifier: Apache-2.0 */
/* generate.file: vectors that every CPU of the architecture has */
#define PREPARE assay_generate_file_prepare_ref
#include "generate_file_body.h"
