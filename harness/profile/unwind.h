/* SPDX-License-Identifier: Apache-2.0 */
/* Who called whom, from the registers and the stack of a sample, by the call frame information of the files mapped. */
#ifndef ASSAY_PROFILE_UNWIND_H
#define ASSAY_PROFILE_UNWIND_H

#include "profile/code_places.h"
#include "profile/cpu_sampler.h"

#define ASSAY_STACK_MAX 1024 /* frames; the callers of deeper ones are cut off */

enum assay_stack_end {
	ASSAY_STACK_BEGAN,  /* where the thread began */
	ASSAY_STACK_COPIED, /* at a caller beyond the copy of the stack */
	ASSAY_STACK_LOST,   /* at code without tables, or after too many */
};

struct assay_unwinder;

/* Borrows @places, opened for the process @pid. */
int assay_unwinder_open(struct assay_unwinder **out, struct assay_code_places *places, pid_t pid,
			struct assay_err *err);
void assay_unwinder_close(struct assay_unwinder *u);

/*
 * The stack of @s as addresses in @frames (ASSAY_STACK_MAX), innermost first; those of callers lie within their call.
 * Returns how many; @end: where they end; @wanted: bytes of the stack that its next caller takes, with COPIED.
 */
size_t assay_unwind(struct assay_unwinder *u, const struct assay_cpu_sample *s, uint64_t *frames,
		    enum assay_stack_end *end, uint64_t *wanted);

#endif
