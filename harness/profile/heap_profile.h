/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of the heap from the files that processes with the heap's object preloaded leave: counters/heap/sites.h. */
#ifndef ASSAY_PROFILE_HEAP_PROFILE_H
#define ASSAY_PROFILE_HEAP_PROFILE_H

#include "model/profile.h"

/*
 * Read all files of @dir into @into, whose times and name are set. Weights are bytes allocated. ASSAY_ENOTFOUND when
 * there is no file: no process had the object preloaded.
 */
int assay_heap_profile_read(const char *dir, struct assay_profile *into, struct assay_err *err);

#endif
