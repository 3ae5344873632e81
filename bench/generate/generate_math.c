/* SPDX-License-Identifier: Apache-2.0 */
/* The tables in double, formats, and the way to the kernels of the widest vectors. */
#include "generate_math.h"

#include <string.h>

/* ---- tables ---- */

double assay_generate_exp_f64(double x)
{
	int64_t n = (int64_t)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
	double r = (x - (double)n * 0x1.62e42fefap-1) - (double)n * 0x1.cf79abc9e3b3ap-40;
	double sum = 1, scale;
	uint64_t bits = (uint64_t)(n + 1023) << 52;

	for (int i = 18; i >= 1; i--)
		sum = 1 + sum * r / i;
	memcpy(&scale, &bits, sizeof(scale));
	return sum * scale;
}

/* Taylor series on |r| ≤ pi/4 after taking off the nearest multiple of pi/2, itself in three parts (Cody and Waite). */
void assay_generate_sincos(double x, double *sin_out, double *cos_out)
{
	int64_t n = (int64_t)(x * 0.63661977236758134 + (x < 0 ? -0.5 : 0.5));
	double k = (double)n;
	double r = ((x - k * 0x1.921fb544p+0) - k * 0x1.0b4611a6p-34) - k * 0x1.3198a2e037073p-69;
	double r2 = r * r, s = 1, c = 1;

	for (int i = 20; i >= 2; i -= 2) {
		s = 1 - s * r2 / (i * (i + 1));
		c = 1 - c * r2 / (i * (i - 1));
	}
	s *= r;
	switch (n & 3) {
	case 0:
		*sin_out = s;
		*cos_out = c;
		break;
	case 1:
		*sin_out = c;
		*cos_out = -s;
		break;
	case 2:
		*sin_out = -s;
		*cos_out = -c;
		break;
	default:
		*sin_out = -c;
		*cos_out = s;
	}
}

/* ---- rotary embedding ---- */

void assay_generate_rope_row(double ln_theta, int64_t dim, int64_t pos, float *row)
{
	int64_t half = dim / 2;

	for (int64_t i = 0; i < half; i++) {
		double s, c;

		assay_generate_sincos((double)pos * assay_generate_exp_f64(-2.0 * (double)i / (double)dim * ln_theta),
				      &s, &c);
		row[i] = (float)c;
		row[half + i] = (float)s;
	}
}
