/* SPDX-License-Identifier: Apache-2.0 */
#include "store/profile_parts.h"

#include <stdlib.h>

#include "store/blob_parts.h"

int assay_store_profile_frames(struct assay_profile_reading *r, struct assay_row *row, uint32_t *out)
{
	struct assay_blob_reader b;
	size_t len = 0;
	uint32_t n;

	b.p = assay_store_row_blob(row, &len);
	b.end = b.p ? b.p + len : NULL;
	b.bad = !b.p;
	n = b.bad ? 0 : (uint32_t)assay_blob_get_varint(&b, len);
	if (n > r->cap) {
		uint32_t *grown = realloc(r->frames, n * sizeof(*grown));

		if (!grown)
			return assay_err_set(r->err, ASSAY_ENOMEM, "out of memory");
		r->frames = grown;
		r->cap = n;
	}
	for (uint32_t i = 0; i < n && !b.bad; i++) {
		r->frames[i] = (uint32_t)assay_blob_get_varint(&b, UINT32_MAX);
		b.bad |= r->frames[i] >= r->p->stacks.n_frames;
	}
	row->bad |= b.bad;
	*out = n;
	return 0;
}

unsigned char *assay_store_profile_blob(const struct assay_stack_table *t, size_t i, size_t *len)
{
	const struct assay_stack *k = &t->stacks[i];
	unsigned char *blob = malloc(((size_t)k->n + 1) * ASSAY_VARINT_MAX), *end;

	if (!blob)
		return NULL;
	end = assay_blob_put_varint(blob, k->n);
	for (uint32_t f = 0; f < k->n; f++)
		end = assay_blob_put_varint(end, t->order[k->first + f]);
	*len = (size_t)(end - blob);
	return blob;
}
