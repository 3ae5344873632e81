/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of the variants of generate.file, which give the op its step(). */
#ifndef ASSAY_GENERATE_FILE_VARIANTS_H
#define ASSAY_GENERATE_FILE_VARIANTS_H

#include "assay/op_generate_file.h"

int assay_generate_file_prepare_ref(struct assay_job *job);
int assay_generate_file_prepare_avx2(struct assay_job *job);
int assay_generate_file_prepare_avx512(struct assay_job *job);
int assay_generate_file_prepare_avx512vnni(struct assay_job *job);

#endif
