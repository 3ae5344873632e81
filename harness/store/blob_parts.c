/* SPDX-License-Identifier: Apache-2.0 */
#include "store/blob_parts.h"

unsigned char *assay_blob_put_varint(unsigned char *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (unsigned char)v;
	return p;
}

uint64_t assay_blob_zigzag(uint64_t v)
{
	return (v << 1) ^ (v >> 63 ? UINT64_MAX : 0);
}

uint64_t assay_blob_unzigzag(uint64_t v)
{
	return (v >> 1) ^ (v & 1 ? UINT64_MAX : 0);
}

unsigned char assay_blob_get_byte(struct assay_blob_reader *r)
{
	if (r->p == r->end) {
		r->bad = true;
		return 0;
	}
	return *r->p++;
}

uint64_t assay_blob_get_varint(struct assay_blob_reader *r, uint64_t max)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned char b = assay_blob_get_byte(r);

		if (shift == 63 && b > 1)
			break;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			if (v > max)
				break;
			return v;
		}
	}
	r->bad = true;
	return 0;
}
