/* SPDX-License-Identifier: Apache-2.0 */
#include "model/history.h"

#include <stdlib.h>

void assay_baseline_infos_release(struct assay_baseline_info *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i].runs);
	free(v);
}

const char *assay_trend_commit(const struct assay_trend_point *p, bool *dirty)
{
	bool own = assay_commit_is_own(&p->plugin);

	*dirty = own ? p->plugin.dirty : p->dirty;
	return own ? p->plugin.hash : p->commit;
}

void assay_trend_line_release(struct assay_trend_line *l)
{
	free(l->points);
	free(l->gaps);
	free(l->changes);
	*l = (struct assay_trend_line){ 0 };
}
