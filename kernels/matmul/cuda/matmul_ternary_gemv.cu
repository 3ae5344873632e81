// SPDX-License-Identifier: Apache-2.0
// matmul.ternary of one token, by vectors of 16 bytes of weights. Where x fits in shared memory, a block of threads
// stays on its multiprocessor, sixteen lanes a row, and goes from rows to rows: a lane multiplies some vectors while
// the next ones are on their way. Longer ones are read through the first cache, for four rows of a warp at once.
#include "matmul_ternary_cuda.cuh"

#define THREADS  CUDA_THREADS_ternary_gemv
#define LANES    16 // of a row
#define ROWS     (THREADS / LANES)
#define DEPTH    4                     // vectors of a lane on their way, and as many that are multiplied
#define RESIDENT 4                     // blocks of threads that a multiprocessor holds
#define HALF     (ASSAY_I2S_BLOCK / 2) // codes of a vector: a half of each block, whose values lie 32 apart
#define X_MOST   16384                 // values that shared memory holds
#define X_HALVES (X_MOST / HALF)

#define ROWS_WIDE 4

// Weights are read once, so that the first cache need not keep them.
static __device__ __forceinline__ uint4 load_once(const uint4 *from)
{
#ifdef __CUDACC__
	uint4 v;

	asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
		     : "l"(from));
	return v;
#else
	return *from;
#endif
}

static __device__ __forceinline__ int dot16(uint4 w, uint32_t mask, uint4 x, int sum)
{
	sum = __dp4a((int)(w.x & mask), (int)x.x, sum);
	sum = __dp4a((int)(w.y & mask), (int)x.y, sum);
	sum = __dp4a((int)(w.z & mask), (int)x.z, sum);
	return __dp4a((int)(w.w & mask), (int)x.w, sum);
}

static __device__ __forceinline__ int sum16(uint4 x, int sum)
{
	sum = __dp4a((int)x.x, TERNARY_ONES, sum);
	sum = __dp4a((int)x.y, TERNARY_ONES, sum);
	sum = __dp4a((int)x.z, TERNARY_ONES, sum);
	return __dp4a((int)x.w, TERNARY_ONES, sum);
}

static __device__ __forceinline__ uint4 shifted(uint4 w, int by)
{
	return make_uint4(w.x >> by, w.y >> by, w.z >> by, w.w >> by);
}

static __device__ __forceinline__ int wrapped_sum(int a, int b)
{
	return (int)((unsigned)a + (unsigned)b);
}

// Of @lanes neighbours, a power of two.
static __device__ __forceinline__ int sum_of_lanes(int sum, int lanes)
{
	for (lanes /= 2; lanes; lanes /= 2)
		sum = wrapped_sum(sum, __shfl_xor_sync(CUDA_FULL, sum, lanes));
	return sum;
}

// ---- x in shared memory ----

// Parts of x: values that the bits 7:6, 5:4, 3:2 and 1:0 of weights are multiplied with, for all halves, so that
// neighbouring lanes read neighbouring vectors.
typedef uint4 gemv_x[4][X_HALVES];

// The codes of bits 1:0, and four times those of bits 3:2, which saves their shifts.
struct gemv_sums {
	int one, four;
};

// What a lane loads at once.
struct gemv_batch {
	int64_t rows; // which ROWS of all
	int half;     // the first one, the next ones are LANES apart
	uint4 w[DEPTH];
};

static __device__ __forceinline__ int stage(gemv_x &x, const ternary_cuda &p)
{
	int sum = 0;

	for (int i = threadIdx.x; i < p.k / 16; i += THREADS) {
		const uint4 v = ((const uint4 *)p.x)[i];

		x[i % 8 / 2][i / 8 * 2 + i % 2] = v;
		sum = sum16(v, sum);
	}
	return sum;
}

static __device__ __forceinline__ int sum_of_block(int sum)
{
	__shared__ int of_warp[THREADS / CUDA_WARP];

	sum = sum_of_lanes(sum, CUDA_WARP);
	if (threadIdx.x % CUDA_WARP == 0)
		of_warp[threadIdx.x / CUDA_WARP] = sum;
	__syncthreads();
	sum = 0;
	for (int i = 0; i < THREADS / CUDA_WARP; i++)
		sum += of_warp[i];
	return sum;
}

static __device__ __forceinline__ int64_t row_of(int64_t rows)
{
	return rows * ROWS + threadIdx.x / LANES;
}

// A row that is not there is the last one, and nothing is stored of it; behind the end of a row all weights are zero.
static __device__ __forceinline__ void load(gemv_batch &b, const ternary_cuda &p)
{
	const int64_t row = row_of(b.rows) < p.m ? row_of(b.rows) : p.m - 1;
	const uint4 *w = (const uint4 *)(p.w + row * (p.k / 4));

#pragma unroll
	for (int i = 0; i < DEPTH; i++) {
		const int half = b.half + i * LANES;

		b.w[i] = half < p.k / HALF ? load_once(w + half) : make_uint4(0, 0, 0, 0);
	}
}

static __device__ __forceinline__ void multiply(gemv_sums &sums, const gemv_batch &b, const gemv_x &x, int halves)
{
#pragma unroll
	for (int i = 0; i < DEPTH; i++) {
		const int half = b.half + i * LANES;
		const uint4 high = shifted(b.w[i], 4);

		if (half >= halves)
			continue;
		sums.four = dot16(high, TERNARY_CODES << 2, x[0][half], sums.four);
		sums.one = dot16(high, TERNARY_CODES, x[1][half], sums.one);
		sums.four = dot16(b.w[i], TERNARY_CODES << 2, x[2][half], sums.four);
		sums.one = dot16(b.w[i], TERNARY_CODES, x[3][half], sums.one);
	}
}

static __device__ __forceinline__ void finish(gemv_sums &sums, const ternary_cuda &p, int64_t row, int x_sum)
{
	const int dot = sum_of_lanes(sums.one + sums.four / 4, LANES) - x_sum;

	if (threadIdx.x % LANES == 0 && row < p.m)
		p.y[row] = ternary_scaled((float)dot, ternary_scale_of(p, row), *p.x_scale);
	sums = {};
}

// The first weights are on their way while x is put in its place.
CUDA_KERNEL(ternary_gemv)(ternary_cuda p)
{
	__shared__ gemv_x x;
	const int64_t all = (p.m + ROWS - 1) / ROWS;
	const int halves = (int)(p.k / HALF), lane = threadIdx.x % LANES;
	gemv_batch b = { blockIdx.x, lane, {} };
	gemv_sums sums = {};
	int x_sum;

	load(b, p);
	x_sum = sum_of_block(stage(x, p));
	while (b.rows < all) {
		gemv_batch next = { b.rows, b.half + LANES * DEPTH, {} };

		if (next.half - lane >= halves) {
			next.rows += gridDim.x;
			next.half = lane;
		}
		if (next.rows < all)
			load(next, p);
		multiply(sums, b, x, halves);
		if (next.rows != b.rows)
			finish(sums, p, row_of(b.rows), x_sum);
		b = next;
	}
}

// ---- x through the first cache ----

// The four rows of a warp share the values that they multiply, and the loads of all are in flight together.
CUDA_KERNEL(ternary_gemv_wide)(ternary_cuda p)
{
	const int lane = threadIdx.x % CUDA_WARP;
	const int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / CUDA_WARP;
	const int64_t first = warp * ROWS_WIDE, halves = p.k / HALF;
	const uint4 *row[ROWS_WIDE];
	int sum[ROWS_WIDE], x_sum = 0;

#pragma unroll
	for (int r = 0; r < ROWS_WIDE; r++) {
		const int64_t at =
			first + r < p.m ? first + r : p.m - 1; // of a row that is not there nothing is stored

		row[r] = (const uint4 *)(p.w + at * (p.k / 4));
		sum[r] = 0;
	}
#pragma unroll 2
	for (int64_t i = lane; i < halves; i += CUDA_WARP) {
		const uint4 *x = (const uint4 *)(p.x + i / 2 * ASSAY_I2S_BLOCK + i % 2 * 16);
		uint4 w[ROWS_WIDE];

#pragma unroll
		for (int r = 0; r < ROWS_WIDE; r++)
			w[r] = row[r][i];
#pragma unroll
		for (int part = 0; part < 4; part++) {
			const uint4 v = x[2 * part];

			x_sum = sum16(v, x_sum);
#pragma unroll
			for (int r = 0; r < ROWS_WIDE; r++)
				sum[r] = dot16(shifted(w[r], 6 - 2 * part), TERNARY_CODES, v, sum[r]);
		}
	}
	x_sum = sum_of_lanes(x_sum, CUDA_WARP);
#pragma unroll
	for (int r = 0; r < ROWS_WIDE; r++) {
		const int dot = minus(sum_of_lanes(sum[r], CUDA_WARP), x_sum);

		if (lane == 0 && first + r < p.m)
			p.y[first + r] = ternary_scaled((float)dot, ternary_scale_of(p, first + r), *p.x_scale);
	}
}

// ---- launches ----

static void enqueue_gemv(const struct assay_job *job, const struct ternary_cuda &p)
{
	const int64_t all = cuda_blocks(p.m, ROWS), resident = (int64_t)cuda_multiprocessors() * RESIDENT;

	if (p.k <= X_MOST)
		CUDA_LAUNCH(job, ternary_gemv, all < resident ? all : resident, p);
	else
		CUDA_LAUNCH(job, ternary_gemv_wide,
			    cuda_blocks(p.m, CUDA_THREADS_ternary_gemv_wide / CUDA_WARP * ROWS_WIDE), p);
}

void assay_ternary_enqueue_cuda(const struct assay_job *job, const struct ternary_cuda &p)
{
	if (p.n > 1)
		assay_ternary_gemm_cuda(job, p);
	else
		enqueue_gemv(job, p);
}

int assay_matmul_ternary_cuda(struct assay_job *job)
{
	assay_ternary_enqueue_cuda(job, ternary_cuda_of(job));
	return cuda_launched(job);
}
