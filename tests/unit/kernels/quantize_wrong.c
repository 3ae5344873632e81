/* SPDX-License-Identifier: Apache-2.0 */
/* The message of the quantize and dequantize oracles about a wrong element: its place, and the expected value. */
#include "mini_host.h"

#include <math.h>

#include "assay/op_quantize.h"

TEST(test_wrong_elements_are_told_by_block_and_field)
{
	static const struct {
		const char *op, *axes;
		int put_at; /* into an input of ones */
		float put;
		int tensor; /* output that is spoilt */
		int at;
		uint8_t flip;
		int64_t element;
		const char *want;
		uint32_t deviates; /* it is no error */
	} rows[] = {
		{ "quantize.q8_0", "n=96", 70, NAN, ASSAY_QUANTIZE_Q, 2 * 34, 0x87, 68,
		  "block 2, scale: got half 0x7e87, want 0x7e00; the input has a NaN, see op_quantize.h",
		  ASSAY_EDGE_NAN },
		{ "quantize.q8_0", "n=96", 70, -INFINITY, ASSAY_QUANTIZE_Q, 2 * 34 + 2 + 31, 1, 101,
		  "block 2, code 31: got 1, want 0; the input has an infinity, see op_quantize.h",
		  ASSAY_EDGE_INFINITY },
		{ "quantize.q8_0", "n=96", 5, 127, ASSAY_QUANTIZE_Q, 2 + 7, 0xfe, 9,
		  "block 0, code 7: got -1, want 1; x * id is 1, see op_quantize.h", 0 },
		{ "quantize.tq2_0", "n=512", 300, 2, ASSAY_QUANTIZE_Q, 66 + 64, 1, 130,
		  "block 1, scale: got half 0x4001, want 0x4000", 0 },
		{ "quantize.tq2_0", "n=512", 300, 4, ASSAY_QUANTIZE_Q, 66 + 32 + 3, 0x10, 101,
		  "block 1, code 195: got 0, want 1; x * id is 0.25, see op_quantize.h", 0 },
		{ "quantize.i2_s", "n=256", 0, NAN, ASSAY_QUANTIZE_SCALE, 0, 1, 0,
		  "gamma: got nan (bits 7fc00001), want nan (bits 7fc00000); the input has a NaN, see op_quantize.h",
		  ASSAY_EDGE_NAN },
		{ "quantize.i2_s", "n=256", 0, 1, ASSAY_QUANTIZE_Q, 32 + 5, 0x10, 37,
		  "block 1, code 37: got 3, want 2; x * s is 1", 0 },
		{ "quantize.i8_token", "tokens=3,dim=4", 5, 2, ASSAY_QUANTIZE_Q, 4, 0x01, 4,
		  "token 1, code 0: got 65, want 64; x * s is 63.5", 0 },
		{ "quantize.i8_token", "tokens=3,dim=4", 9, NAN, ASSAY_QUANTIZE_SCALE, 8, 1, 2,
		  "token 2: got nan (bits 7fc00001), want nan (bits 7fc00000); the input has a NaN, see "
		  "op_quantize.h",
		  ASSAY_EDGE_NAN },
		/* ties: 0.5 is as near to 0 as to 1, and so it is after a rounding of x or the scale */
		{ "quantize.q8_0", "n=32", 5, 254, ASSAY_QUANTIZE_Q, 2 + 7, 0x01, 9,
		  "block 0, code 7: got 0, want 1; x * id is 0.5, see op_quantize.h", ASSAY_EDGE_TIE },
		{ "quantize.q8_0", "n=32", 5, 254, ASSAY_QUANTIZE_Q, 2 + 7, 0x03, 9,
		  "block 0, code 7: got 2, want 1; x * id is 0.5, see op_quantize.h", 0 },
		{ "quantize.q8_0", "n=32", 5, 254.01f, ASSAY_QUANTIZE_Q, 2 + 7, 0x01, 9,
		  "block 0, code 7: got 1, want 0; x * id is 0.49998033, see op_quantize.h", 0 },
		{ "quantize.tq2_0", "n=256", 5, 2, ASSAY_QUANTIZE_Q, 3, 0x03, 3,
		  "block 0, code 3: got 1, want 2; x * id is 0.5, see op_quantize.h", ASSAY_EDGE_TIE },
		/* a scale beyond the largest half */
		{ "quantize.q8_0", "n=32", 5, 1e30f, ASSAY_QUANTIZE_Q, 0, 0xff, 0,
		  "block 0, scale: got half 0x7cff, want 0x7c00", ASSAY_EDGE_INFINITY },
		/* codes are right where the scale overflows */
		{ "quantize.q8_0", "n=32", 5, 1e30f, ASSAY_QUANTIZE_Q, 2 + 5, 0x01, 7,
		  "block 0, code 5: got 126, want 127; x * id is 127, see op_quantize.h", 0 },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct mini_case *c = mini_new(rows[i].op, "ref", rows[i].axes, NULL);
		struct assay_check check;
		char deviation[300];
		float *x;

		mini_fill(c);
		x = c->tensors[ASSAY_QUANTIZE_X].data;
		for (size_t k = 0; k < c->tensors[ASSAY_QUANTIZE_X].bytes / sizeof(*x); k++)
			x[k] = 1;
		x[rows[i].put_at] = rows[i].put;
		mini_run(c);
		mini_check(c);
		((uint8_t *)c->tensors[rows[i].tensor].data)[rows[i].at] ^= rows[i].flip;
		check = mini_try_check(c);
		assert_int_equal(check.correct, rows[i].deviates != 0);
		assert_int_equal(check.deviates, rows[i].deviates);
		snprintf(deviation, sizeof(deviation), "element %d of '%s': %s", (int)rows[i].element,
			 c->tensors[rows[i].tensor].spec->name, rows[i].want);
		assert_string_equal(rows[i].deviates ? check.deviation.text : check.reason.text,
				    rows[i].deviates ? deviation : rows[i].want);
		if (!rows[i].deviates)
			assert_int_equal(check.first_bad, rows[i].element);
		mini_free(c);
	}
}

/* Inputs are all zero, and the last value is another. */
TEST(test_wrong_values_are_told_by_block_and_code)
{
	static const struct {
		const char *op, *axes;
		int x; /* tensor */
		const char *want;
	} rows[] = {
		{ "dequantize.q8_0", "n=64", ASSAY_DEQUANTIZE_BLOCK_X,
		  "block 1, value 31: got 123 (bits 42f60000), want 0 (bits 00000000); its code is 0, the scale half "
		  "0x0000" },
		{ "dequantize.tq2_0", "n=512", ASSAY_DEQUANTIZE_BLOCK_X,
		  "block 1, value 255: got 123 (bits 42f60000), want -0 (bits 80000000); its code is 0, the scale half "
		  "0x0000" },
		{ "dequantize.i2_s", "n=256", ASSAY_DEQUANTIZE_X,
		  "block 1, value 127: got 123 (bits 42f60000), want -0 (bits 80000000); its code is 0" },
		{ "dequantize.i8_token", "tokens=2,dim=3", ASSAY_DEQUANTIZE_X,
		  "token 1, value 2: got 123 (bits 42f60000), want 0 (bits 00000000); its code is 0" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct mini_case *c = mini_new(rows[i].op, "ref", rows[i].axes, NULL);
		struct assay_check check;
		size_t last;

		mini_fill(c);
		for (int t = 0; t < rows[i].x; t++)
			memset(c->tensors[t].data, 0, c->tensors[t].bytes);
		mini_run(c);
		mini_check(c);
		last = c->tensors[rows[i].x].bytes / sizeof(float) - 1;
		((float *)c->tensors[rows[i].x].data)[last] = 123;
		check = mini_try_check(c);
		assert_int_equal(check.correct, 0);
		assert_string_equal(check.reason.text, rows[i].want);
		assert_int_equal(check.first_bad, last);
		mini_free(c);
	}
}

UNIT_GROUP(NULL, NULL)
