/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of GPUs, compiled for the host and run on the emulated grid of tests/cuda/emulator, against the oracles:
 * odd sizes, edges of tiles, and both orders in which threads may take their turns.
 */
#include "emulated_fixture.h"

#include <sys/mman.h>

#include "assay/op_matmul.h"
#include "assay/op_stream.h"

static const char *const orders[] = { "first", "last" };

/* On inputs of the op's own, in each order of turns. */
static void check(const char *op, const char *axes)
{
	for (size_t o = 0; o < N_OF(orders); o++) {
		struct mini_case *c = mini_new(op, "cuda", axes, &(struct mini_options){ .seed = 3 + o });

		setenv("ASSAY_EMULATOR_ORDER", orders[o], 1);
		mini_fill(c);
		mini_run(c);
		mini_check(c);
		mini_free(c);
	}
}

TEST(test_cuda_ternary)
{
	static const char *const axes[] = {
		/* one token: rows of a block of threads and of all blocks, columns of a batch: few, exact, over;
		 * the longest x in shared memory, and beyond it four rows a warp with one left */
		"m=1,k=128,n=1", "m=16,k=3968,n=1", "m=256,k=4096,n=1", "m=261,k=4224,n=1", "m=3,k=16384,n=1",
		"m=33,k=16512,n=1",
		/* tiles of 64 rows, 16 tokens and 6 stages, then some of 128, 64 and 4: one short, exact, over */
		"m=1,k=128,n=2", "m=63,k=640,n=15", "m=64,k=768,n=16", "m=65,k=896,n=3", "m=129,k=128,n=17",
		"m=383,k=384,n=63", "m=384,k=512,n=64", "m=257,k=640,n=65", "m=16,k=128,n=130"
	};

	needs_emulated();
	for (size_t i = 0; i < N_OF(axes); i++)
		check("matmul.ternary", axes[i]);
}

/* Rows of a tile that lie behind the matrix have no scale: nothing is read behind the last one. */
TEST(test_cuda_ternary_scales_end)
{
	static const char *const axes[] = { "m=1,k=128,n=1", "m=3,k=16512,n=1", "m=65,k=128,n=3", "m=129,k=128,n=130" };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	needs_emulated();
	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	for (size_t i = 0; i < N_OF(axes); i++) {
		struct mini_case *c = mini_new("matmul.ternary", "cuda", axes[i], NULL);

		c->tensors[ASSAY_TERNARY_W_SCALE].data = pages + page - c->tensors[ASSAY_TERNARY_W_SCALE].bytes;
		mini_fill(c);
		mini_run(c);
		mini_check(c);
		mini_free(c);
	}
	assert_int_equal(munmap(pages, 2 * page), 0);
}

/* The largest codes times the largest activations: sums that pass 2^31 on their way. */
TEST(test_cuda_ternary_wraps)
{
	struct mini_case *c;

	needs_emulated();
	c = mini_new("matmul.ternary", "cuda", "m=2,k=16909312,n=1", NULL);
	mini_fill(c);
	memset(c->tensors[ASSAY_TERNARY_W].data, 0xaa, c->tensors[ASSAY_TERNARY_W].bytes);
	memset(c->tensors[ASSAY_TERNARY_X].data, 127, c->tensors[ASSAY_TERNARY_X].bytes);
	mini_run(c);
	mini_check(c);
	mini_free(c);
}

TEST(test_cuda_quantize)
{
	static const char *const formats[] = { "quantize.q8_0",   "quantize.tq2_0",   "quantize.i2_s",
					       "dequantize.q8_0", "dequantize.tq2_0", "dequantize.i2_s" };
	/* of the block, of sum blocks, and of what a block of threads takes: one short, exact, one over */
	static const char *const axes[] = { "n=256", "n=3840", "n=4096", "n=4352", "n=69888" };
	static const char *const tokens[] = { "tokens=1,dim=1",    "tokens=3,dim=1023",  "tokens=2,dim=1024",
					      "tokens=2,dim=1028", "tokens=5,dim=31",    "tokens=2,dim=4096",
					      "tokens=2,dim=4100", "tokens=1,dim=16384", "tokens=1,dim=16388" };

	needs_emulated();
	for (size_t f = 0; f < N_OF(formats); f++)
		for (size_t i = 0; i < N_OF(axes); i++)
			check(formats[f], axes[i]);
	check("quantize.q8_0", "n=32");
	check("dequantize.q8_0", "n=4128");
	for (size_t i = 0; i < N_OF(tokens); i++) {
		check("quantize.i8_token", tokens[i]);
		check("dequantize.i8_token", tokens[i]);
	}
}

/* The op's own sizes would take the emulator minutes. */
TEST(test_cuda_stream)
{
	enum { N = 4 * (1024 + 17) };
	static const char *const ops[] = { "stream.copy", "stream.triad" };

	needs_emulated();
	for (size_t op = 0; op < N_OF(ops); op++) {
		static float data[3][N + 4];
		struct assay_host_info info = { .size = sizeof(info) };
		const struct assay_shape shape = { .host = &info, .axis = { ASSAY_LEVEL_DRAM } };
		struct assay_tensor tensors[3] = { { .data = data[0], .bytes = N * 4 },
						   { .data = data[1], .bytes = N * 4 },
						   { .data = data[2], .bytes = N * 4 } };
		struct assay_job job = { .shape = &shape, .tensors = tensors, .n_threads = 1 };
		const float *in = data[0], *out = data[op + 1];

		memset(data, 0, sizeof(data));
		for (int i = 0; i < N; i++)
			data[0][i] = (float)i;
		for (int i = 0; i < N; i++)
			data[1][i] = op ? (float)(i % 7) : -1;
		assert_int_equal(mini_variant(ops[op], "cuda")->run(&job), 0);
		for (int i = 0; i < N + 4; i++)
			assert_true(out[i] == (i >= N ? 0 : op ? in[i] + 3 * (float)(i % 7) : in[i]));
	}
}

UNIT_GROUP(use_emulated, NULL)
