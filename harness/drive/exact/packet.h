/* SPDX-License-Identifier: Apache-2.0 */
/* A counted case as bytes, from one process of this program to another. */
#ifndef ASSAY_DRIVE_EXACT_PACKET_H
#define ASSAY_DRIVE_EXACT_PACKET_H

#include "base/text.h"
#include "measure/exact.h"

/* Append @c, and how it ended, to @out; what there is no memory for is out->failed. */
void assay_exact_pack(const struct assay_exact_case *c, enum assay_exact_end end, struct assay_text *out);
/* ASSAY_EINTERNAL where @n bytes are no whole packet. Release @c in either case. */
int assay_exact_unpack(const char *bytes, size_t n, struct assay_exact_case *c, enum assay_exact_end *end,
		       struct assay_err *err);

#endif
