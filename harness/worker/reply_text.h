/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of a worker's answer. Plugins write most of them: reasons, names of tensors, counters and metrics. */
#ifndef ASSAY_WORKER_REPLY_TEXT_H
#define ASSAY_WORKER_REPLY_TEXT_H

#include "worker/protocol.h"

/*
 * Terminate all texts of @r and make them printable, see base/text.h. The numbers of entries need not be valid.
 */
void assay_reply_make_printable(struct assay_worker_reply *r);

#endif
