/* SPDX-License-Identifier: Apache-2.0 */
#include "model/database_report.h"

#include <stdlib.h>

void assay_import_report_release(struct assay_import_report *r)
{
	free(r->runs);
	free(r->same);
	free(r->other);
	*r = (struct assay_import_report){ 0 };
}
