/* SPDX-License-Identifier: Apache-2.0 */
#include "model/call_time.h"

#include "model/sample_choice.h"

#define ENOUGH_CLEAN 20

/* Samples from @s on that are one call. */
static size_t length_of_call(const struct assay_sample *s, size_t n)
{
	size_t i = 1;

	while (i < n && s[i - 1].flags & ASSAY_SAMPLE_CONTINUES)
		i++;
	return i;
}

/* Without the time that others had the CPU; 0 where nothing would be left. */
static double time_of_call(const struct assay_sample *s, size_t n)
{
	double ns = -assay_samples_lost_ns(s, n);

	for (size_t i = 0; i < n; i++)
		ns += (double)s[i].ns;
	return ns > 0 && s->iterations ? ns / (double)s->iterations : 0;
}

size_t assay_call_times(const struct assay_sample *s, size_t n, double *out)
{
	size_t calls = 0, clean = 0, slow = 0, clean_slow = 0, kept = 0, length;
	bool drop, drop_slow;

	for (size_t i = 0; i < n; i += length) {
		length = length_of_call(&s[i], n - i);
		calls++;
		slow += assay_samples_slow(&s[i], length);
		if (assay_samples_disturbed(&s[i], length))
			continue;
		clean++;
		clean_slow += assay_samples_slow(&s[i], length);
	}
	drop = clean >= ENOUGH_CLEAN || 2 * clean >= calls;
	drop_slow = drop ? 2 * clean_slow <= clean : 2 * slow <= calls;
	for (size_t i = 0; i < n; i += length) {
		length = length_of_call(&s[i], n - i);
		if ((drop && assay_samples_disturbed(&s[i], length)) ||
		    (drop_slow && assay_samples_slow(&s[i], length)))
			continue;
		out[kept] = time_of_call(&s[i], length);
		kept += out[kept] > 0;
	}
	return kept;
}
