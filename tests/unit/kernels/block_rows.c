/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.q8_0 and matmul.q6_k: each variant against the oracle, and this against wrong outputs. */
#include "matmul_fixture.h"

#include "assay/op_blocks.h"

/* Under emulation, only what is checked quickly. */
#if defined(TEST_EMULATED)
#define SMALL true
#else
#define SMALL false
#endif

static const char *const block_ops[] = { "matmul.q8_0", "matmul.q6_k" };

/* Rows and tokens that fill no tile, an input of zeros, and codes of the greatest size. */
TEST(test_blocks_variants)
{
	static const struct {
		int64_t m, k, n;
	} shapes[] = { { 1, 256, 1 }, { 3, 512, 2 }, { 70, 768, 9 }, { 131, 256, 4 }, { 600, 2048, 300 } };

	for (size_t op = 0; op < N_OF(block_ops); op++)
		for (size_t v = 0; v < mini_variant_names()->n; v++)
			for (size_t s = 0; s < N_OF(shapes); s++) {
				const char *variant = mini_variant_names()->v[v];
				struct mini_case *c;
				uint8_t *w;

				if (!mini_can_run(block_ops[op], variant) ||
				    (s == 4 && (SMALL || !strcmp(variant, "ref"))))
					continue;
				c = new_case(block_ops[op], variant, shapes[s].m, shapes[s].k, shapes[s].n, 1 + s % 3);
				w = data_of(c, ASSAY_BLOCKS_W);
				mini_fill(c);
				memset(data_of(c, ASSAY_BLOCKS_X), 0, 256 * sizeof(float));
				/* all codes but those of the scale: -128 and signed scales of -128, or codes of 0 */
				memset(w + (op ? 0 : 2), op ? 0 : 0x80, 32);
				memset(w + (op ? 192 : 2), 0x80, 16);
				mini_run(c);
				mini_check(c);
				mini_free(c);
			}
}

TEST(test_blocks_flips)
{
	static const struct {
		int64_t m, k, n;
	} shapes[] = { { 33, 256, 5 }, { 40000, 2048, 5 } }; /* all rows; a sample of them */

	for (size_t op = 0; op < N_OF(block_ops); op++)
		for (size_t s = 0; s < N_OF(shapes) && !(s && SMALL); s++) {
			struct mini_case *c = new_case(block_ops[op], "ref", shapes[s].m, shapes[s].k, shapes[s].n, 2);
			const int64_t where[] = { 0, shapes[s].m - 1, 4 * shapes[s].m };
			uint32_t *y = data_of(c, ASSAY_BLOCKS_Y);

			mini_fill(c);
			mini_run(c);
			mini_check(c);
			for (size_t i = 0; i < N_OF(where); i++) {
				y[where[i]] ^= 1;
				expect_wrong(c, ASSAY_BLOCKS_Y, where[i]);
				y[where[i]] ^= 1;
			}
			mini_free(c);
		}
}

/*
 * Inputs as each variant rounds them, by hand: a value halfway between two codes, and the greatest magnitude with both
 * signs. Of blocks of 256, the first of these becomes -127; the output does not tell, since the scale takes the sign
 * back.
 */
static void expect_rounded(const char *op, const char *variant, const float *x, const int8_t *q, float scale)
{
	struct mini_case *c = new_case(op, variant, 1, 256, 1, 1);
	const struct assay_block_inputs in = assay_block_inputs(data_of(c, ASSAY_BLOCKS_ROUNDED), 256);

	mini_fill(c);
	memset(data_of(c, ASSAY_BLOCKS_X), 0, 256 * sizeof(float));
	memcpy(data_of(c, ASSAY_BLOCKS_X), x, 4 * sizeof(*x));
	mini_run(c);
	assert_memory_equal(in.q, q, 4);
	assert_true(in.d[0] == scale);
	mini_check(c);
	mini_free(c);
}

TEST(test_blocks_inputs)
{
	static const float minus[] = { 1, -2, 2, 0.25f }, plus[] = { 1, 2, -2, 0.25f };
	const float half = assay_f32_of_half(assay_half_of_f32(2.0f / 127));

	for (size_t v = 0; v < mini_variant_names()->n; v++) {
		const char *variant = mini_variant_names()->v[v];

		if (!mini_can_run("matmul.q8_0", variant))
			continue;
		expect_rounded("matmul.q8_0", variant, minus, (const int8_t[]){ 64, -127, 127, 16 }, half);
		expect_rounded("matmul.q8_0", variant, plus, (const int8_t[]){ 64, 127, -127, 16 }, half);
		expect_rounded("matmul.q6_k", variant, minus, (const int8_t[]){ 64, -127, 127, 16 }, 1 / 63.5f);
		expect_rounded("matmul.q6_k", variant, plus, (const int8_t[]){ -64, -127, 127, -16 }, -1 / 63.5f);
	}
}

TEST(test_blocks_shapes)
{
	struct assay_problem out = { .size = sizeof(out) };
	struct assay_reason why = { "" };
	struct mini_case *c = new_case("matmul.q6_k", "ref", 1, 256, 1, 1);
	struct assay_shape shape = c->shape;

	shape.axis[ASSAY_MATMUL_K] = 288;
	assert_int_equal(c->op->describe(&shape, &out, &why), -1);
	assert_string_equal(why.text, "k is 288, expected a multiple of 256");
	mini_free(c);
}

#if defined(TEST_EMULATED)
/* Elsewhere generate.c compares the tables of all vectors bit by bit. */
TEST(test_heads)
{
	static const char *const heads[] = { "bf16", "f32", "q8_0", "q6_k", "i8_row" };

	for (size_t i = 0; i < N_OF(heads); i++) {
		char axes[64];
		struct mini_case *c;

		snprintf(axes, sizeof(axes), "model=tiny,pp=1,tg=2,head=%s", heads[i]);
		c = mini_new("generate.decode", "neon_dotprod", axes, &(struct mini_options){ .n_threads = 2 });
		mini_fill(c);
		mini_run(c);
		mini_check(c);
		mini_free(c);
	}
}
#endif

UNIT_GROUP(NULL, NULL)
