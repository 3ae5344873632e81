/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/steadiness.h"

#include <math.h>
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

void assay_steadiness_clock(struct assay_steadiness *s, double least_hz, double most_hz)
{
	const double most = fmax(most_hz, s->clock_hz), least = s->clock_hz > 0 ? fmin(least_hz, s->clock_hz) : 0;

	s->clock_moves = most_hz > 0 && least < (1 - ASSAY_CLOCK_TOLERANCE_FRAC) * most;
	s->clock_hz = most_hz;
}

void assay_steadiness_release(struct assay_steadiness *s)
{
	free(s->ns);
	*s = (struct assay_steadiness){ 0 };
}
