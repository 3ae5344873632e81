/* SPDX-License-Identifier: Apache-2.0 */
/* For what unwinds stacks: the files of a process as libdwfl has them. */
#ifndef ASSAY_PROFILE_CODE_PLACES_DWFL_H
#define ASSAY_PROFILE_CODE_PLACES_DWFL_H

#include <elfutils/libdwfl.h>

struct assay_code_places;

Dwfl *assay_code_places_dwfl(struct assay_code_places *p);

#endif
