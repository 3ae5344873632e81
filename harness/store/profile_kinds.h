/* SPDX-License-Identifier: Apache-2.0 */
/* What a kind of profile has beside stacks with weights, or in their place. Inside of the store. */
#ifndef ASSAY_STORE_PROFILE_KINDS_H
#define ASSAY_STORE_PROFILE_KINDS_H

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

int assay_store_profile_kind_read(struct assay_store *s, struct assay_store_whole whole,
				  struct assay_profile_reading *r);
/* *stacks: those are in it, too. */
int assay_store_profile_kind_put(struct assay_store *s, const struct assay_profile *p, int64_t id, bool *stacks,
				 struct assay_err *err);

#endif
