/* SPDX-License-Identifier: Apache-2.0 */
#include "model/certify_report.h"

#include <stdlib.h>

void assay_certify_report_release(struct assay_certify_report *r)
{
	assay_strings_release(&r->keys);
	free(r->json);
	*r = (struct assay_certify_report){ 0 };
}
