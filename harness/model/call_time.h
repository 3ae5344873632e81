/* SPDX-License-Identifier: Apache-2.0 */
/* What a call takes while it has its cores for itself, from samples that others may have disturbed. Pure. */
#ifndef ASSAY_MODEL_CALL_TIME_H
#define ASSAY_MODEL_CALL_TIME_H

#include "model/result.h"

/*
 * The time of an iteration, in ns, of each call of @s that counts, without what the kernel says was lost to others;
 * parts of a call (ASSAY_SAMPLE_CONTINUES) are added up. Clean calls alone count as soon as there are enough of them,
 * because a call that was interrupted also finds its caches emptied; of these, slow cores are left out as in
 * sample_choice.h. How long a call took plays no part in the choice. @out holds @n numbers; returns how many there are.
 */
size_t assay_call_times(const struct assay_sample *s, size_t n, double *out);

#endif
