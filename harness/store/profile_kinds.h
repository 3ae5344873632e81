/* SPDX-License-Identifier: Apache-2.0 */
/* What a kind of profile has beside stacks with weights, or in their place. Inside of the store. */
#ifndef ASSAY_STORE_PROFILE_KINDS_H
#define ASSAY_STORE_PROFILE_KINDS_H

#include "store/profile_parts.h"

int assay_store_profile_kind_read(struct assay_store *s, struct assay_store_whole whole,
				  struct assay_profile_reading *r);
/* *stacks: those are in it, too. */
int assay_store_profile_kind_put(struct assay_store *s, const struct assay_profile *p, int64_t id, bool *stacks,
				 struct assay_err *err);

#endif
