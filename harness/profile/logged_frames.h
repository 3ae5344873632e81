/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a stack table from the addresses that a preloaded object wrote down. */
#ifndef ASSAY_PROFILE_LOGGED_FRAMES_H
#define ASSAY_PROFILE_LOGGED_FRAMES_H

#include "model/profile.h"
#include "profile/code_places.h"

/* Frames of a stack that grows, the outermost first. */
struct assay_logged_list {
	uint32_t *v, n, most;
};

/*
 * Append the function at @address to @list, behind those it was inlined into. *known: the innermost has a name. What
 * there is no room for is left out.
 */
int assay_logged_frames(struct assay_code_places *places, struct assay_stack_table *t, uint64_t address,
			struct assay_logged_list *list, bool *known, struct assay_err *err);
/* Append a label. */
int assay_logged_label(struct assay_stack_table *t, const char *text, struct assay_logged_list *list,
		       struct assay_err *err);

#endif
