// SPDX-License-Identifier: Apache-2.0
// matmul.ternary of several tokens on int8 tensor cores. A block of threads makes 128 rows of w times 16 or 64 tokens:
// eight warps, four along the rows and two along the tokens. The 32 bytes of a block of I2_S hold four steps of the
// instruction, whose operands a lane gets by a shift and a mask; activations pass through shared memory, the next ones
// on their way while these are multiplied.
#include "cuda/cuda_mma.cuh"
#include "matmul_ternary_cuda.cuh"

#define WARPS_M   4
#define WARPS_N   2
#define TILES_M   2 // of 16 rows, a warp
#define BLOCK_M   (WARPS_M * TILES_M * 16)
#define ROW_BYTES (ASSAY_I2S_BLOCK + 16) // of a token in shared memory: lanes of a load then use all banks once
#define THREADS   (WARPS_M * WARPS_N * CUDA_WARP)

static_assert(THREADS == CUDA_THREADS_ternary_gemm_16 && THREADS == CUDA_THREADS_ternary_gemm_64,
	      "a warp for each tile");

// Of the tile of one lane: TILES_N is how many tiles of 8 tokens a warp has.
template <int TILES_N> struct gemm_tile {
	static constexpr int block_n = WARPS_N * TILES_N * 8;
	static constexpr int vectors = (block_n * ASSAY_I2S_BLOCK / 16 + THREADS - 1) / THREADS; // a thread loads

	uint32_t w[TILES_M][4]; // of the block that is multiplied: rows g, g + 8, then their other 16 bytes
	uint4 x[vectors];
	int sum[TILES_M][TILES_N][4];
	int x_sum[TILES_N];
};

static __device__ __forceinline__ int64_t at_most(int64_t i, int64_t n)
{
	return i < n ? i : n - 1;
}

// What lies outside of w or x is read from their last row, and nothing is stored of it.
template <int TILES_N>
static __device__ __forceinline__ void load(gemm_tile<TILES_N> &tile, const ternary_cuda &p, int64_t row, int64_t token,
					    int64_t block)
{
	const int lane = threadIdx.x % CUDA_WARP;

#pragma unroll
	for (int i = 0; i < TILES_M * 2; i++) {
		const int64_t r = at_most(row + i * 8 + lane / 4, p.m);
		const uint32_t *from = (const uint32_t *)(p.w + r * (p.k / 4) + block * ASSAY_I2S_BLOCK_BYTES);

		tile.w[i / 2][i % 2] = from[lane % 4];
		tile.w[i / 2][i % 2 + 2] = from[lane % 4 + 4];
	}
#pragma unroll
	for (int i = 0; i < tile.vectors; i++) {
		const int at = i * THREADS + threadIdx.x;
		const int64_t t = at_most(token + at / 8, p.n);

		if (at < tile.block_n * 8)
			tile.x[i] = ((const uint4 *)(p.x + t * p.k + block * ASSAY_I2S_BLOCK))[at % 8];
	}
}

template <int TILES_N>
static __device__ __forceinline__ void share(const gemm_tile<TILES_N> &tile, int8_t (*shared)[ROW_BYTES])
{
#pragma unroll
	for (int i = 0; i < tile.vectors; i++) {
		const int at = i * THREADS + threadIdx.x;

		if (at < tile.block_n * 8)
			*(uint4 *)&shared[at / 8][at % 8 * 16] = tile.x[i];
	}
}

template <int TILES_N>
static __device__ __forceinline__ void multiply(gemm_tile<TILES_N> &tile, const uint32_t (&w)[TILES_M][4],
						const int8_t (*shared)[ROW_BYTES])
{
	const int lane = threadIdx.x % CUDA_WARP, first = threadIdx.x / CUDA_WARP % WARPS_N * TILES_N * 8;

#pragma unroll
	for (int step = 0; step < 4; step++) {
		uint32_t a[TILES_M][4];

#pragma unroll
		for (int i = 0; i < TILES_M; i++)
#pragma unroll
			for (int k = 0; k < 4; k++)
				a[i][k] = w[i][k] >> (6 - 2 * step) & TERNARY_CODES;
#pragma unroll
		for (int j = 0; j < TILES_N; j++) {
			const uint32_t *b =
				(const uint32_t *)&shared[first + j * 8 + lane / 4][step * 32 + lane % 4 * 4];

			tile.x_sum[j] = __dp4a((int)b[0], TERNARY_ONES, __dp4a((int)b[4], TERNARY_ONES, tile.x_sum[j]));
#pragma unroll
			for (int i = 0; i < TILES_M; i++)
				mma_s8(tile.sum[i][j], a[i], b[0], b[4]);
		}
	}
}

template <int TILES_N>
static __device__ __forceinline__ void store(const gemm_tile<TILES_N> &tile, const ternary_cuda &p, int64_t row,
					     int64_t token)
{
	const int lane = threadIdx.x % CUDA_WARP;
	float w_scale[TILES_M * 2];

	row += lane / 4;
	token += lane % 4 * 2;
#pragma unroll
	for (int i = 0; i < TILES_M * 2; i++)
		w_scale[i] = ternary_scale_of(p, row + i * 8);
#pragma unroll
	for (int j = 0; j < TILES_N; j++) {
		int x_sum = tile.x_sum[j], of_token[2];

		for (int lanes = 1; lanes < 4; lanes *= 2)
			x_sum = (int)((unsigned)x_sum + (unsigned)__shfl_xor_sync(CUDA_FULL, x_sum, lanes));
		for (int c = 0; c < 2; c++)
			of_token[c] = __shfl_sync(CUDA_FULL, x_sum, (lane % 4 * 2 + c) * 4);
#pragma unroll
		for (int i = 0; i < TILES_M * 4; i++) {
			const int64_t r = row + i / 2 * 8, t = token + j * 8 + i % 2;

			if (r < p.m && t < p.n)
				p.y[t * p.m + r] =
					ternary_scaled((float)minus(tile.sum[i / 4][j][i % 4], of_token[i % 2]),
						       w_scale[i / 2], p.x_scale[t]);
		}
	}
}

template <int TILES_N> static __device__ __forceinline__ void gemm(const ternary_cuda &p)
{
	__shared__ int8_t shared[2][gemm_tile<TILES_N>::block_n][ROW_BYTES];
	const int64_t tiles_m = (p.m + BLOCK_M - 1) / BLOCK_M, blocks = p.k / ASSAY_I2S_BLOCK;
	const int warp = threadIdx.x / CUDA_WARP;
	const int64_t row = blockIdx.x % tiles_m * BLOCK_M + warp / WARPS_N * TILES_M * 16;
	const int64_t token = blockIdx.x / tiles_m * gemm_tile<TILES_N>::block_n;
	gemm_tile<TILES_N> tile = {};

	load(tile, p, row, token, 0);
	share(tile, shared[0]);
	__syncthreads();
	for (int64_t block = 0; block < blocks; block++) {
		uint32_t w[TILES_M][4];

#pragma unroll
		for (int i = 0; i < TILES_M * 4; i++)
			w[i / 4][i % 4] = tile.w[i / 4][i % 4];
		load(tile, p, row, token, at_most(block + 1, blocks));
		multiply(tile, w, shared[block % 2]);
		share(tile, shared[(block + 1) % 2]);
		__syncthreads();
	}
	store(tile, p, row, token + warp % WARPS_N * TILES_N * 8);
}

CUDA_KERNEL(ternary_gemm_16)(ternary_cuda p)
{
	gemm<1>(p);
}

CUDA_KERNEL(ternary_gemm_64)(ternary_cuda p)
{
	gemm<4>(p);
}

void assay_ternary_gemm_cuda(const struct assay_job *job, const struct ternary_cuda &p)
{
	const int64_t tiles_m = cuda_blocks(p.m, BLOCK_M);

	if (p.n <= gemm_tile<1>::block_n)
		CUDA_LAUNCH(job, ternary_gemm_16, tiles_m * cuda_blocks(p.n, gemm_tile<1>::block_n), p);
	else
		CUDA_LAUNCH(job, ternary_gemm_64, tiles_m * cuda_blocks(p.n, gemm_tile<4>::block_n), p);
}
