/* SPDX-License-Identifier: Apache-2.0 */
/* A gate from the request to the verdict: a stored run, or stored counts, against manifest, policy and baseline. */
#ifndef ASSAY_DRIVE_GATE_GATE_H
#define ASSAY_DRIVE_GATE_GATE_H

#include "drive/gate/request.h"
#include "drive/watch.h"
#include "model/gate_report.h"

/*
 * Judge; @report is all-zero before and to be released in either case. Warns where counts were not judged, with the
 * command that changes it. ASSAY_EUSAGE where there is no run, manifest or baseline of that name.
 */
int assay_gate(const struct assay_gate_request *q, const struct assay_watch *w, struct assay_gate_report *report,
	       struct assay_err *err);

#endif
