/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bisect_report.h"

#include <stdlib.h>

void assay_bisect_report_release(struct assay_bisect_report *r)
{
	free(r->steps);
	*r = (struct assay_bisect_report){ 0 };
}

const char *assay_bisect_end_name(enum assay_bisect_end e)
{
	static const char *const names[] = {
		[ASSAY_BISECT_FOUND] = "found",   [ASSAY_BISECT_RANGE] = "range",          [ASSAY_BISECT_SAME] = "same",
		[ASSAY_BISECT_UNSURE] = "unsure", [ASSAY_BISECT_UNTAKEN] = "not measured",
	};

	return names[e];
}
