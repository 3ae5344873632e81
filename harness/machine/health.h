/* SPDX-License-Identifier: Apache-2.0 */
/* What `assay doctor` says about the host: its state, and what is installed. */
#ifndef ASSAY_MACHINE_HEALTH_H
#define ASSAY_MACHINE_HEALTH_H

#include "machine/clock.h"
#include "model/finding.h"
#include "machine/topology.h"

/* Adds to @out, all-zero before; release it in either case. ASSAY_ENOMEM. */
int assay_doctor(const struct assay_topology *t, const struct assay_clock *clock, struct assay_findings *out,
		 struct assay_err *err);
/* Files are read below @root; perf events and PATH are always those of this machine. */
int assay_doctor_at(const char *root, const struct assay_topology *t, const struct assay_clock *clock,
		    struct assay_findings *out, struct assay_err *err);

/* A finding for each GPU: where it is and how it is joined with the others. @xml_path as in gpu_topology.h. */
void assay_doctor_gpu_places(struct assay_findings *l, const char *xml_path);

#endif
