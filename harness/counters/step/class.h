/* SPDX-License-Identifier: Apache-2.0 */
/* What a decoded instruction calculates. Only step/zydis.c asks. */
#ifndef ASSAY_COUNTERS_STEP_CLASS_H
#define ASSAY_COUNTERS_STEP_CLASS_H

#if ASSAY_ZYDIS
#include <Zydis/Zydis.h>

#include "counters/step/decode.h"

/* Set kind, width, flow, lanes, per_lane and lane_mask of @out. @operands are all of @insn's. Async-signal-safe. */
void assay_step_classify(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
			 struct assay_step_insn *out);
#endif

#endif
