// SPDX-License-Identifier: Apache-2.0
// matmul.ternary of several tokens on int8 tensor cores. A block of threads makes a tile of y, each warp a part of it.
// Blocks of 128 columns of w and x pass through shared memory; a stage holds one of each, and further stages are on
// their way while one is multiplied. The 32 bytes of a block of I2_S hold four steps of the instruction, whose operands
// a lane gets by a shift and a mask. A row of w takes a quarter of the traffic of a token, so tiles are tall.
#include "cuda/cuda_async.cuh"
#include "cuda/cuda_mma.cuh"
#include "matmul_ternary_cuda.cuh"

#define VECTOR        16 // bytes that a thread copies at once
#define TOKEN_VECTORS (ASSAY_I2S_BLOCK / VECTOR)
#define ROW_VECTORS   (ASSAY_I2S_BLOCK_BYTES / VECTOR)

// WARPS_M times WARPS_N warps, each with TILES_M tiles of 16 rows and TILES_N tiles of 8 tokens.
template <int WARPS_M, int WARPS_N, int TILES_M, int TILES_N, int STAGES> struct gemm_shape {
	static constexpr int warps_n = WARPS_N, tiles_m = TILES_M, tiles_n = TILES_N, stages = STAGES;
	static constexpr int rows = WARPS_M * TILES_M * 16, tokens = WARPS_N * TILES_N * 8;
	static constexpr int threads = WARPS_M * WARPS_N * CUDA_WARP;
	static constexpr int w_bytes = rows * ASSAY_I2S_BLOCK_BYTES, x_bytes = tokens * ASSAY_I2S_BLOCK;
	static constexpr int stage_bytes = w_bytes + x_bytes;
	static constexpr int w_vectors = w_bytes / VECTOR / threads,
			     x_vectors = x_bytes / VECTOR / threads; // of a thread
	static constexpr int adders = threads / tokens;              // threads that add up one token

	static_assert(TILES_N % 2 == 0 && stages > 1, "two tiles of tokens are loaded at once, and one stage is ahead");
	static_assert(w_vectors * threads * VECTOR == w_bytes && x_vectors * threads * VECTOR == x_bytes &&
			      adders * tokens == threads && TOKEN_VECTORS % adders == 0,
		      "all threads have equal shares");
};

// Small products: small tiles, so that there are blocks for all multiprocessors, and many stages against latency.
typedef gemm_shape<4, 1, 1, 2, 6> gemm_16;
typedef gemm_shape<2, 2, 4, 4, 4> gemm_64;

static_assert(gemm_16::threads == CUDA_THREADS_ternary_gemm_16 && gemm_64::threads == CUDA_THREADS_ternary_gemm_64,
	      "a warp for each part of a tile");

// ---- stages in shared memory: vectors are swapped so that eight rows of one column lie in different banks ----

static __device__ __forceinline__ int w_offset(int row, int vector)
{
	return (row * ROW_VECTORS + (vector ^ (row / 4 & 1))) * VECTOR;
}

// Behind the rows of w.
template <typename S> static __device__ __forceinline__ int x_offset(int token, int vector)
{
	return S::w_bytes + (token * TOKEN_VECTORS + (vector ^ token % TOKEN_VECTORS)) * VECTOR;
}

// Where the thread's vectors of the next block lie.
template <typename S> struct gemm_source {
	const uint8_t *w[S::w_vectors];
	const int8_t *x[S::x_vectors];
};

static __device__ __forceinline__ int64_t at_most(int64_t i, int64_t n)
{
	return i < n ? i : n - 1;
}

// In the place of what lies outside of w or x their last row is read; of that nothing is stored.
template <typename S>
static __device__ __forceinline__ gemm_source<S> source_of(const ternary_cuda &p, int64_t row, int64_t token)
{
	gemm_source<S> from;

#pragma unroll
	for (int i = 0; i < S::w_vectors; i++) {
		const int at = i * S::threads + threadIdx.x;

		from.w[i] = p.w + at_most(row + at / ROW_VECTORS, p.m) * (p.k / 4) + at % ROW_VECTORS * VECTOR;
	}
#pragma unroll
	for (int i = 0; i < S::x_vectors; i++) {
		const int at = i * S::threads + threadIdx.x;

		from.x[i] = p.x + at_most(token + at / TOKEN_VECTORS, p.n) * p.k + at % TOKEN_VECTORS * VECTOR;
	}
	return from;
}

template <typename S> static __device__ __forceinline__ void fetch(gemm_source<S> &from, uint8_t *stage)
{
#pragma unroll
	for (int i = 0; i < S::w_vectors; i++) {
		const int at = i * S::threads + threadIdx.x;

		async_copy16(stage + w_offset(at / ROW_VECTORS, at % ROW_VECTORS), from.w[i]);
		from.w[i] += ASSAY_I2S_BLOCK_BYTES;
	}
#pragma unroll
	for (int i = 0; i < S::x_vectors; i++) {
		const int at = i * S::threads + threadIdx.x;

		async_copy16(stage + x_offset<S>(at / TOKEN_VECTORS, at % TOKEN_VECTORS), from.x[i]);
		from.x[i] += ASSAY_I2S_BLOCK;
	}
}

// ---- the tile of a warp ----

template <typename S> struct gemm_tile {
	int row, token; // of the block's tile, where the warp's part begins
	int sum[S::tiles_m][S::tiles_n][4];
	int x_sum; // of the columns that this thread adds up
};

template <typename S> static __device__ __forceinline__ void multiply(gemm_tile<S> &tile, const uint8_t *stage)
{
	const int lane = threadIdx.x % CUDA_WARP;
	const int w_at = w_offset(tile.row + lane % 16, lane / 16);
	const int x_at = x_offset<S>(tile.token + lane / 16 * 8 + lane % 8, lane / 8 % 2);
	uint32_t w[S::tiles_m][4];

#pragma unroll
	for (int i = 0; i < S::tiles_m; i++)
		load_matrices(w[i], stage + w_at + i * 16 * ASSAY_I2S_BLOCK_BYTES);
#pragma unroll
	for (int step = 0; step < 4; step++) {
		uint32_t a[S::tiles_m][4], b[S::tiles_n / 2][4];

#pragma unroll
		for (int j = 0; j < S::tiles_n / 2; j++)
			load_matrices(b[j], stage + (x_at ^ step * 2 * VECTOR) + j * 16 * ASSAY_I2S_BLOCK);
#pragma unroll
		for (int i = 0; i < S::tiles_m; i++)
#pragma unroll
			for (int k = 0; k < 4; k++)
				a[i][k] = w[i][k] >> (6 - 2 * step) & TERNARY_CODES;
#pragma unroll
		for (int j = 0; j < S::tiles_n; j++)
#pragma unroll
			for (int i = 0; i < S::tiles_m; i++)
				mma_s8(tile.sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
	}
}

// Neighbouring threads add up one token of the block's tile.
template <typename S> static __device__ __forceinline__ void add_up(gemm_tile<S> &tile, const uint8_t *stage)
{
	constexpr int vectors = TOKEN_VECTORS / S::adders;

#pragma unroll
	for (int i = 0; i < vectors; i++) {
		const int token = threadIdx.x / S::adders, vector = threadIdx.x % S::adders * vectors + i;
		const uint4 x = *(const uint4 *)(stage + x_offset<S>(token, vector));

		tile.x_sum = __dp4a((int)x.x, TERNARY_ONES, __dp4a((int)x.y, TERNARY_ONES, tile.x_sum));
		tile.x_sum = __dp4a((int)x.z, TERNARY_ONES, __dp4a((int)x.w, TERNARY_ONES, tile.x_sum));
	}
}

// All threads get the sums of all tokens of the tile; the stages are not needed any more.
template <typename S> static __device__ __forceinline__ void share_sums(gemm_tile<S> &tile, int *sums)
{
	for (int lanes = 1; lanes < S::adders; lanes *= 2)
		tile.x_sum = (int)((unsigned)tile.x_sum + (unsigned)__shfl_xor_sync(CUDA_FULL, tile.x_sum, lanes));
	__syncthreads();
	if (threadIdx.x % S::adders == 0)
		sums[threadIdx.x / S::adders] = tile.x_sum;
	__syncthreads();
}

template <typename S>
static __device__ __forceinline__ void store(const gemm_tile<S> &tile, const ternary_cuda &p, int64_t row,
					     int64_t token, const int *sums)
{
	const int lane = threadIdx.x % CUDA_WARP;
	float w_scale[S::tiles_m * 2];

	row += tile.row + lane / 4;
#pragma unroll
	for (int i = 0; i < S::tiles_m * 2; i++)
		w_scale[i] = ternary_scale_of(p, row + i * 8);
#pragma unroll
	for (int j = 0; j < S::tiles_n * 2; j++) {
		const int of_tile = tile.token + j / 2 * 8 + lane % 4 * 2 + j % 2;
		const int64_t t = token + of_tile;

		if (t >= p.n)
			continue;
#pragma unroll
		for (int i = 0; i < S::tiles_m * 2; i++) {
			const int sum = minus(tile.sum[i / 2][j / 2][i % 2 * 2 + j % 2], sums[of_tile]);

			if (row + i * 8 < p.m)
				p.y[t * p.m + row + i * 8] = ternary_scaled((float)sum, w_scale[i], p.x_scale[t]);
		}
	}
}

template <typename S> static __device__ __forceinline__ void gemm(const ternary_cuda &p)
{
	__shared__ __align__(128) uint8_t stages[S::stages * S::stage_bytes];
	const int64_t tiles_m = (p.m + S::rows - 1) / S::rows;
	const int64_t row = blockIdx.x % tiles_m * S::rows, token = blockIdx.x / tiles_m * S::tokens;
	const int blocks = (int)(p.k / ASSAY_I2S_BLOCK), warp = threadIdx.x / CUDA_WARP;
	gemm_source<S> from = source_of<S>(p, row, token);
	gemm_tile<S> tile = {};
	int now = 0, later = S::stages - 1;

	tile.row = warp / S::warps_n * S::tiles_m * 16;
	tile.token = warp % S::warps_n * S::tiles_n * 8;
#pragma unroll
	for (int i = 0; i < S::stages - 1; i++) {
		if (i < blocks)
			fetch<S>(from, stages + i * S::stage_bytes);
		async_end_group();
	}
	for (int block = 0; block < blocks; block++) {
		async_wait<S::stages - 2>();
		__syncthreads(); // this block is there, and all have multiplied the one whose stage is filled next
		if (block + S::stages - 1 < blocks)
			fetch<S>(from, stages + later * S::stage_bytes);
		async_end_group();
		multiply(tile, stages + now * S::stage_bytes);
		add_up(tile, stages + now * S::stage_bytes);
		now = now + 1 < S::stages ? now + 1 : 0;
		later = later + 1 < S::stages ? later + 1 : 0;
	}
	share_sums(tile, (int *)stages);
	store(tile, p, row, token, (const int *)stages);
}

CUDA_KERNEL(ternary_gemm_16)(ternary_cuda p)
{
	gemm<gemm_16>(p);
}

CUDA_KERNEL(ternary_gemm_64)(ternary_cuda p)
{
	gemm<gemm_64>(p);
}

template <typename S> static int64_t tiles_of(const ternary_cuda &p)
{
	return cuda_blocks(p.m, S::rows) * cuda_blocks(p.n, S::tokens);
}

// A large tile takes as long as small ones on three quarters of the multiprocessors: fewer leave too much idle.
void assay_ternary_gemm_cuda(const struct assay_job *job, const struct ternary_cuda &p)
{
	const int64_t large = tiles_of<gemm_64>(p), least = (int64_t)cuda_multiprocessors() * 3 / 4;

	if (p.n <= gemm_16::tokens || large < least)
		CUDA_LAUNCH(job, ternary_gemm_16, tiles_of<gemm_16>(p), p);
	else
		CUDA_LAUNCH(job, ternary_gemm_64, large, p);
}
