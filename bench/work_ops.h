/* SPDX-License-Identifier: Apache-2.0 */
/* The counters that the matmul, quantize and dequantize ops declare; assay/op_work.h says what they count. */
#ifndef WORK_OPS_H
#define WORK_OPS_H

#include "assay/op_work.h"

extern const char *const assay_work_counters[ASSAY_WORK_N_COUNTERS];

#endif
