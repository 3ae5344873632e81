/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/steadiness.h"

#include <stdlib.h>

int assay_steadiness_add(struct assay_steadiness *s, const struct assay_sample *samples, size_t n,
			 struct assay_err *err)
{
	double *grown = n ? realloc(s->ns, (s->n + n) * sizeof(*grown)) : s->ns;

	if (n && !grown)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the times of %zu samples", s->n + n);
	s->ns = grown;
	for (size_t i = 0; i < n; i++)
		s->ns[s->n++] = (double)samples[i].ns;
	return 0;
}

void assay_steadiness_release(struct assay_steadiness *s)
{
	free(s->ns);
	*s = (struct assay_steadiness){ 0 };
}
