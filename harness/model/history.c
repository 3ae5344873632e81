/* SPDX-License-Identifier: Apache-2.0 */
#include "model/history.h"

#include <stdlib.h>

void assay_baseline_infos_release(struct assay_baseline_info *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i].runs);
	free(v);
}
