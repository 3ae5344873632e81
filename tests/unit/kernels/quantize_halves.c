/* SPDX-License-Identifier: Apache-2.0 */
/* Half precision in the quantize ops: every half is decoded, and halves between two are rounded to even. */
#include "mini_host.h"

#include <math.h>

#include "assay/op_quantize.h"

/* Every half there is, as the scale of a q8_0 block. */
TEST(test_all_halves_decode)
{
	for (size_t v = 0; v < mini_variant_names()->n; v++) {
		struct mini_case *c;
		uint8_t *q;

		if (!mini_can_run("dequantize.q8_0", mini_variant_names()->v[v]))
			continue;
		c = mini_new("dequantize.q8_0", mini_variant_names()->v[v], "n=2097152", NULL);
		q = c->tensors[ASSAY_DEQUANTIZE_Q].data;
		for (int half = 0; half < 65536; half++, q += ASSAY_Q8_0_BLOCK_BYTES) {
			q[0] = (uint8_t)half;
			q[1] = (uint8_t)(half >> 8);
			for (int i = 0; i < ASSAY_Q8_0_BLOCK; i++)
				q[2 + i] = (uint8_t)(i * 37 + half);
			q[2] = 1;
			q[3] = 0;
		}
		mini_run(c);
		mini_check(c);
		mini_free(c);
	}
}

/*
 * Floats around every boundary between two halves, as the largest value of a tq2_0 block. What they round to is known
 * without conversion: h up to the tie when h is even, h + 1 beyond.
 */
TEST(test_halves_round_to_even)
{
	for (size_t v = 0; v < mini_variant_names()->n; v++) {
		struct mini_case *c;
		float *x;
		uint8_t *q;

		if (!mini_can_run("quantize.tq2_0", mini_variant_names()->v[v]))
			continue;
		c = mini_new("quantize.tq2_0", mini_variant_names()->v[v], "n=1280", NULL);
		x = c->tensors[ASSAY_QUANTIZE_X].data;
		q = c->tensors[ASSAY_QUANTIZE_Q].data;
		memset(x, 0, 1280 * sizeof(*x));
		for (int h = 0; h < 0x7c00; h++) {
			double unit = h < 0x400 ? 0x1p-24 : ldexp(1, (h >> 10) - 25);
			double value = h < 0x400 ? h * unit : ((h & 0x3ff) + 1024) * unit;
			float tie = (float)(value + unit / 2);
			int want[5] = { h, h, h + (h & 1), h + 1, h + 1 };

			x[0] = (float)value;
			x[256] = nextafterf(tie, 0);
			x[512] = tie;
			x[768] = -nextafterf(tie, INFINITY);
			x[1024] = (float)(value + unit);
			assert_int_equal(c->variant->run(&c->job), 0);
			for (int b = 0; b < 5; b++)
				assert_int_equal(q[66 * b + 64] | q[66 * b + 65] << 8, want[b]);
		}
		mini_free(c);
	}
}

UNIT_GROUP(NULL, NULL)
