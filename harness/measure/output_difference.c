/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/output_difference.h"

#include <stdio.h>

#include "model/comparison.h"

static int fetch_windows(struct assay_turns *t, uint64_t from)
{
	const struct assay_worker_args args = { .iterations = from };
	int rc = assay_turns_command(t, ASSAY_BASE, ASSAY_CMD_OUTPUT, &args);

	return rc ? rc : assay_turns_command(t, ASSAY_HEAD, ASSAY_CMD_OUTPUT, &args);
}

/* Bytes of an element as one number, as people write it. */
static uint64_t element_bits(const struct assay_worker_reply *r)
{
	uint64_t bits = 0;

	for (uint32_t i = r->element_bytes; i > 0; i--)
		bits = bits << 8 | r->window[i - 1];
	return bits;
}

int assay_output_difference(struct assay_turns *t, char *difference)
{
	const struct assay_worker_reply *b = assay_worker_reply(t->w[ASSAY_BASE]),
					*h = assay_worker_reply(t->w[ASSAY_HEAD]);
	uint64_t from = 0;
	uint32_t i = 0;
	int rc;

	do {
		from += i;
		rc = fetch_windows(t, from);
		for (i = 0; !rc && i < b->window_bytes && i < h->window_bytes && b->window[i] == h->window[i];)
			i++;
	} while (!rc && i && i == b->window_bytes && i == h->window_bytes);
	if (rc)
		return rc;
	if (i >= b->window_bytes || i >= h->window_bytes) {
		snprintf(difference, ASSAY_DIFFERENCE_MAX, "outputs differ in length: base %llu bytes, head %llu",
			 (unsigned long long)b->output_bytes, (unsigned long long)h->output_bytes);
		return 0;
	}
	rc = fetch_windows(t, from + i);
	if (!rc)
		rc = fetch_windows(t, b->element_at); /* so that the window begins with the whole element */
	if (!rc)
		snprintf(difference, ASSAY_DIFFERENCE_MAX, "element %llu of '%s' differs: base 0x%0*llx, head 0x%0*llx",
			 (unsigned long long)b->element, b->output_name, (int)(2 * b->element_bytes),
			 (unsigned long long)element_bits(b), (int)(2 * h->element_bytes),
			 (unsigned long long)element_bits(h));
	return rc;
}
