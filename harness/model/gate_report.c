/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership of gate reports. */
#include "model/gate_report.h"

#include <stdlib.h>

void assay_gate_report_release(struct assay_gate_report *r)
{
	free(r->cases);
	free(r->controls);
	free(r->advice);
	r->cases = NULL;
	r->n_cases = 0;
	r->controls = NULL;
	r->n_controls = 0;
}
