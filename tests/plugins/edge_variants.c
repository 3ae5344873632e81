/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants of quantize.q8_0 as others write it: plain, which misses NaN and divides by subnormals, and even, which also
 * multiplies by 127/max and rounds ties to even. far_off is wrong, in one code on ordinary values.
 */
#include <math.h>
#include <string.h>

#include <assay/plugin.h>

enum { BLOCK = 32, BYTES = 34 };

/* Rounded to nearest, ties to even. Not by _Float16, which clang 14 does not have on x86. */
static uint16_t half_of(float x)
{
	uint32_t bits;
	uint16_t sign;

	memcpy(&bits, &x, sizeof(bits));
	sign = (uint16_t)(bits >> 16 & 0x8000);
	bits &= INT32_MAX;
	if (bits >= 0x477ff000) /* from halfway beyond the largest one on */
		return (uint16_t)(sign | (bits > 0x7f800000 ? 0x7e00 : 0x7c00));
	if (bits >= 0x38800000)
		return (uint16_t)(sign | (bits + 0xfff + (bits >> 13 & 1) - 0x38000000) >> 13);
	x = fabsf(x) + 0.5f; /* a unit in its last place is the smallest subnormal one */
	memcpy(&bits, &x, sizeof(bits));
	return (uint16_t)(sign | (bits - 0x3f000000));
}

static void block(const float *x, uint8_t *q, int even)
{
	float most = 0, d, id;
	uint16_t scale;

	for (int j = 0; j < BLOCK; j++)
		most = fabsf(x[j]) > most ? fabsf(x[j]) : most;
	d = most / 127;
	id = most == 0 ? 0 : even ? 127 / most : 1 / d;
	scale = half_of(d);
	memcpy(q, &scale, sizeof(scale));
	for (int j = 0; j < BLOCK; j++) {
		const float y = x[j] * id;

		/* what a conversion of a NaN or an infinity gives is not defined */
		q[2 + j] = (uint8_t)(int8_t)(!(fabsf(y) < 1000) ? -128 : even ? rintf(y) : roundf(y));
	}
}

static void quantize(const struct assay_job *job, int even)
{
	const int64_t n = job->tensors[1].spec->dims[0];

	for (int64_t i = 0; i < n; i++)
		block((const float *)job->tensors[0].data + BLOCK * i, (uint8_t *)job->tensors[1].data + BYTES * i,
		      even);
}

static int plain(struct assay_job *job)
{
	quantize(job, 0);
	return 0;
}

static int even(struct assay_job *job)
{
	quantize(job, 1);
	return 0;
}

static int far_off(struct assay_job *job)
{
	quantize(job, 0);
	((uint8_t *)job->tensors[1].data)[5] ^= 4;
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "quantize.q8_0", .name = "plain", .flags = ASSAY_VARIANT_ONE_THREAD, .run = plain },
	{ .op = "quantize.q8_0", .name = "even", .flags = ASSAY_VARIANT_ONE_THREAD, .run = even },
	{ .op = "quantize.q8_0", .name = "far_off", .flags = ASSAY_VARIANT_ONE_THREAD, .run = far_off },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER, .name = "edge-variants", .version = "1", .variants = variants, .n_variants = 3,
};
