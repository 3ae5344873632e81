/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of profiles as blobs of varints: as many frames as there are, and their places. Inside of the store. */
#ifndef ASSAY_STORE_PROFILE_PARTS_H
#define ASSAY_STORE_PROFILE_PARTS_H

#include "model/profile.h"
#include "store/rows.h"

struct assay_profile_reading {
	struct assay_profile *p;
	uint32_t *frames; /* of a stack */
	size_t cap;
	struct assay_err *err;
};

/* The next column, which is a stack, into r->frames; *n: how many it has. A damaged one sets row->bad. */
int assay_store_profile_frames(struct assay_profile_reading *r, struct assay_row *row, uint32_t *n);
/* The frames of stack @i as a blob, which the caller frees; NULL: out of memory. */
unsigned char *assay_store_profile_blob(const struct assay_stack_table *t, size_t i, size_t *len);

#endif
