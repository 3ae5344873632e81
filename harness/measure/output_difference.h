/* SPDX-License-Identifier: Apache-2.0 */
/* Where two outputs that should be equal begin to differ. */
#ifndef ASSAY_MEASURE_OUTPUT_DIFFERENCE_H
#define ASSAY_MEASURE_OUTPUT_DIFFERENCE_H

#include "measure/turns.h"

/*
 * Describe the first element that differs, or that the lengths differ, in @difference (ASSAY_DIFFERENCE_MAX bytes). 0,
 * or what assay_turns_command() returned.
 */
int assay_output_difference(struct assay_turns *t, char *difference);

#endif
